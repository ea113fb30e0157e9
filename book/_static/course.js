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

/* A formula in a line that is wider than the column, as on a phone, gets a line of its own in which it scrolls. */
(() => {
  const mark = () =>
    document.querySelectorAll("article mjx-container:not([display])").forEach((each) => {
      each.classList.remove("wide");
      const column = each.closest("p, li, td, dd, div");
      each.classList.toggle("wide", !!column && each.getBoundingClientRect().width > column.clientWidth);
    });
  window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(mark));
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
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
