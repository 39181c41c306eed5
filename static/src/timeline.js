// Makes timelines walkable by keys and their links copy. Everything works without
// it: the folds open by themselves and the links lead to files. It listens on the
// document, because parts of a page come later.

const stops = (timeline) => [...timeline.querySelectorAll("[data-stop]")].filter((e) => e.checkVisibility());

// Each returns the stop to go to; undefined stays.
const moves = {
	j: (list, at) => list[at + 1],
	k: (list, at) => list[Math.max(at - 1, 0)],
	Home: (list) => list[0],
	End: (list) => list.at(-1),
	f: (list, at) => {
		const isFault = (e) => e.classList.contains("is-fault");
		return list.slice(at + 1).find(isFault) ?? list.find(isFault);
	},
};

// Only inside a timeline, so that no key is taken from anything else.
document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(moves, event.key)) return;
	const timeline = event.target.closest("[data-timeline]");
	if (!timeline) return;
	const list = stops(timeline);
	const next = moves[event.key](list, list.indexOf(event.target.closest("[data-stop]")));
	event.preventDefault();
	next?.focus();
	next?.scrollIntoView({ block: "nearest" });
});

async function contentOf(address) {
	const response = await fetch(address);
	if (!response.ok) throw new Error(`${response.status}`);
	return new Blob([await response.text()], { type: "text/plain" });
}

// The clipboard gets a promise: some browsers forget the click while a file is on
// its way.
async function copy(link) {
	const content = link.dataset.copy === "address" ? new Blob([link.href], { type: "text/plain" }) : contentOf(link.href);
	await navigator.clipboard.write([new ClipboardItem({ "text/plain": content })]);
}

document.addEventListener("click", async (event) => {
	const link = event.target.closest("a[data-copy]");
	if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
	event.preventDefault();
	const said = link.parentElement.querySelector("[data-copied]");
	said.textContent = "";
	try {
		await copy(link);
		said.textContent = said.dataset.copied;
	} catch {
		location.assign(link.href); // no clipboard, or an error that its page explains
	}
});

// A schedule that cannot be run again says why on a page of its own.
document.addEventListener("htmx:responseError", (event) => {
	const link = event.target.closest("a[data-twin]");
	if (link) location.assign(link.href);
});

// The link that had the focus is gone; the timeline that came takes it.
document.addEventListener("htmx:afterSwap", (event) => {
	if (event.target.matches(".tl-twin")) event.target.querySelector("[data-timeline]")?.focus();
});
