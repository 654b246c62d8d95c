// A page of many sections is an overview first: sections open one by one, all at once, by a link to a place in
// them, or by a search in the page. Without this script, and on paper, they are open.
(() => {
  const MANY = 8; // sections; a page of fewer is scrolled
  const main = document.getElementById("main");
  const headings = [...main.querySelectorAll(":scope > h2")];
  if (headings.length < MANY) return;

  const sections = headings.map((heading) => {
    const body = document.createElement("div");
    body.className = "folded";
    // The question of a section stays beside its heading.
    let at = heading.nextElementSibling?.matches("p") ? heading.nextElementSibling : heading;
    at.after(body);
    while ((at = body.nextElementSibling) && !at.matches("h2, nav")) body.append(at);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold";
    button.append(...heading.childNodes);
    heading.append(button);
    const open = (whether) => {
      if (whether) body.removeAttribute("hidden");
      else body.setAttribute("hidden", "until-found");
      button.setAttribute("aria-expanded", String(whether));
    };
    button.addEventListener("click", () => open(body.hasAttribute("hidden")));
    body.addEventListener("beforematch", () => open(true));
    return { heading, body, open };
  });

  const all = document.createElement("p");
  all.className = "folding";
  for (const [words, whether] of [["Open all sections", true], ["Close all sections", false]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => sections.forEach(({ open }) => open(whether)));
    all.append(button);
  }
  headings[0].before(all);

  // The section of the place that the address names is open, and only that at first.
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = sections.find(({ heading, body }) => heading.contains(target) || body.contains(target));
    if (!target || !section) return;
    section.open(true);
    target.scrollIntoView();
  };
  sections.forEach(({ open }, place) => open(place === 0));
  addEventListener("hashchange", follow);
  follow();
})();
