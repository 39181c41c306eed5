// Notes in a sitting that text was pasted: when, where and how much, not what or from
// where. The marks go with the next draft, as a field of its form; the ranges follow
// what is typed until then. Text that was in one of the files before, or that stands
// in the task, is marked as moved.
import { invertedEffects } from "@codemirror/commands";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

const fewestLines = 3; // what is smaller is not noted
const fewestCharacters = 200;
const mostWaiting = 50; // marks that the server takes at once
const mostTaken = 50; // texts that were taken out of a file and may come back

const plain = (text) => text.replace(/\s+/g, " ").trim();
const lineCount = (text) => text.trim().split("\n").length;
const isLarge = (text) => plain(text) !== "" && (text.length >= fewestCharacters || lineCount(text) >= fewestLines);
const drawn = () => [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");

const follow = (mark, changes) => ({ ...mark, from: changes.mapPos(mark.from, 1), to: changes.mapPos(mark.to, -1) });
const isThere = (mark) => mark.from < mark.to;

const add = StateEffect.define({ map: follow });
const drop = StateEffect.define(); // the ids of marks that the server has

// waiting are the marks of a file that the server does not have yet.
const waiting = StateField.define({
	create: () => [],
	update(marks, tr) {
		const list = tr.docChanged ? marks.map((m) => follow(m, tr.changes)).filter(isThere) : marks;
		return tr.effects.reduce((all, e) => {
			if (e.is(drop)) return all.filter((m) => !e.value.has(m.id));
			return e.is(add) ? [...all, e.value] : all;
		}, list);
	},
});

// Who takes a paste back and brings it again has pasted it.
const undone = invertedEffects.of((tr) => {
	return tr.startState.field(waiting).filter((m) => !isThere(follow(m, tr.changes))).map((m) => add.of(m));
});

// notePastes notes what is pasted into the editors of a form.
export function notePastes(form) {
	const place = `redeliver pastes ${form.dataset.name}`;
	const task = plain([...document.querySelectorAll("article.prose pre")].map((p) => p.textContent).join("\n"));
	const editors = new Map(); // by the name of the file
	let taken = [];
	let sent = new Set();

	const known = (state) => [state.doc, ...[...editors.values()].map((view) => view.state.doc)].map((doc) => plain(doc.toString())).concat(task, taken);

	// The marks go with the transaction that pastes, so that no draft is saved between the two.
	const marking = EditorState.transactionExtender.of((tr) => {
		if (!tr.isUserEvent("input.paste") && !tr.isUserEvent("input.drop")) return null;
		const effects = [];
		tr.changes.iterChanges((fromOld, toOld, from, to, inserted) => {
			const text = inserted.toString();
			if (!isLarge(text)) return;
			const moved = known(tr.startState).some((k) => k.includes(plain(text)));
			effects.push(add.of({ id: drawn(), at: Date.now(), from, to, size: text.length, lines: lineCount(text), moved }));
		});
		return { effects };
	});

	// What is taken out may come back in another place. What was pasted just now does not
	// become the candidate's own by that.
	function takeOut(tr) {
		const pasted = tr.startState.field(waiting).filter((m) => !m.moved);
		tr.changes.iterChanges((from, to) => {
			const text = tr.startState.sliceDoc(from, to);
			if (!isLarge(text) || pasted.some((m) => m.from < to && from < m.to)) return;
			taken = [...taken, plain(text)].slice(-mostTaken);
		});
	}

	const watching = EditorView.updateListener.of((update) => {
		if (!update.docChanged) return;
		update.transactions.filter((tr) => tr.docChanged).forEach(takeOut);
		keep();
	});

	const all = () => [...editors].flatMap(([file, view]) => view.state.field(waiting).map((m) => ({ file, ...m }))).slice(0, mostWaiting);

	// A page that goes before its draft is saved keeps the text in the tab, and so the marks.
	function keep() {
		const marks = all();
		try {
			if (marks.length > 0) sessionStorage.setItem(place, JSON.stringify(marks));
			else sessionStorage.removeItem(place);
		} catch {
			// No room or no storage: then the text is not kept either.
		}
	}

	function kept() {
		try {
			return JSON.parse(sessionStorage.getItem(place)) ?? [];
		} catch {
			return []; // nothing that can be read
		}
	}

	function inLines(mark) {
		const { doc } = editors.get(mark.file).state;
		const last = doc.lineAt(mark.to).from === mark.to ? mark.to - 1 : mark.to; // not the line below
		return { from: doc.lineAt(mark.from).number, to: doc.lineAt(last).number };
	}

	form.addEventListener("formdata", (event) => {
		const marks = all();
		sent = new Set(marks.map((m) => m.id));
		event.formData.set("pastes", JSON.stringify(marks.map(({ id, file, lines, size, moved, at, ...range }) => ({
			id, file, lines, size, moved, ago: Math.max(0, Date.now() - at), ...inLines({ file, ...range }),
		}))));
	});
	form.addEventListener("drafted", () => {
		for (const view of editors.values()) view.dispatch({ effects: drop.of(sent) });
		keep();
	});

	return {
		extensions: [waiting, undone, marking, watching],
		edits(file, view) {
			const fitting = kept().filter((m) => m.file === file && m.to <= view.state.doc.length);
			editors.set(file, view);
			view.dispatch({ effects: fitting.map(({ file: _, ...mark }) => add.of(mark)) });
		},
	};
}
