/* On paper everything stands open: answers, folded cells and outputs. What was folded is folded again afterwards. */
(() => {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    const folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((each) => each.setAttribute("open", ""));
    const hidden = [...document.querySelectorAll("button.toggle-button-hidden")];
    hidden.forEach((each) => each.click());
    opened = [...folded.map((each) => () => each.removeAttribute("open")), ...hidden.map((each) => () => each.click())];
  });
  window.addEventListener("afterprint", () => opened.splice(0).forEach((close) => close()));
})();

/* A formula in a line that is wider than the column, as on a phone, gets a line of its own in which it scrolls.
   (A table scrolls as a whole.) */
(() => {
  const mark = () =>
    document.querySelectorAll("article mjx-container:not([display])").forEach((each) => {
      each.classList.remove("wide");
      const column = each.closest("table") ? null : each.closest("p, li, dd, div");
      each.classList.toggle("wide", !!column && each.getBoundingClientRect().width > column.clientWidth);
    });
  window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(mark));
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
})();

/* A bracket or a mark that stands beside a formula in a line stays with it. */
(() => {
  const beside = (text, pattern) => (text?.nodeType === Node.TEXT_NODE ? (text.data.match(pattern)?.[0] ?? "") : "");
  const tie = () =>
    document.querySelectorAll("article span.math").forEach((each) => {
      const before = beside(each.previousSibling, /[(\[“‘–]+$/);
      const after = beside(each.nextSibling, /^[)\].,;:!?”’–]+/);
      if (!before && !after) return;
      const [left, right] = [each.previousSibling, each.nextSibling];
      if (before) left.data = left.data.slice(0, -before.length);
      if (after) right.data = right.data.slice(after.length);
      const together = document.createElement("span");
      together.className = "together";
      each.replaceWith(together);
      together.append(before, each, after);
    });
  window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(tie));
})();

/* What scrolls sideways is marked at the side where there is more. */
(() => {
  const BOXES = "div.math, mjx-container, .highlight pre, .cell_output pre, .pst-scrollable-table-container";
  const mark = (box) => {
    const rest = getComputedStyle(box).overflowX === "auto" ? box.scrollWidth - box.clientWidth - box.scrollLeft : 0;
    box.classList.toggle("more-before", box.scrollLeft > 1);
    box.classList.toggle("more-after", rest > 1);
  };
  const watch = new ResizeObserver((seen) => seen.forEach((each) => mark(each.target)));
  const start = () => document.querySelectorAll("article :is(" + BOXES + ")").forEach((each) => watch.observe(each));
  document.addEventListener("scroll", (event) => event.target.matches?.(BOXES) && mark(event.target), true);
  window.addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(start));
})();

/* Films stop and start by a button. By themselves they stop after a few turns, also without this script. */
(() => {
  const button = (film) => {
    const strip = film.querySelector(".strip");
    const made = document.createElement("button");
    let [motion] = strip.getAnimations(); // none for readers who asked their system for less motion
    const plays = () => motion?.playState === "running";
    const name = () => (made.textContent = plays() ? "Stop the film" : "Play the film");
    const play = () => {
      film.querySelector("svg").classList.add("asked");
      motion ??= strip.getAnimations()[0];
      motion.play();
    };
    made.type = "button";
    made.addEventListener("click", () => {
      plays() ? motion.pause() : play();
      name();
    });
    strip.addEventListener("animationend", name);
    film.append(made);
    name();
  };
  window.addEventListener("load", () => document.querySelectorAll("figure.film").forEach(button));
})();
