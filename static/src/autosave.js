// Saves the draft of a form by itself. The server numbers the versions and refuses
// a text that was not based on the newest one, so two tabs never overwrite each
// other. What is not on the server yet is kept in the storage of this tab.

const pause = 2000; // ms without typing
const spacing = 5000; // ms between two requests, however much is typed
const patience = 15000; // ms for which somebody may type on
const firstRetry = 5000; // ms, doubled with each failure
const lastRetry = 60000;
const keepaliveLimit = 60000; // bytes; browsers drop more when a page is left

export function autosave(form) {
	const fields = [...form.querySelectorAll("textarea[name]")];
	const base = form.elements.base;
	const state = form.querySelector("#draft-state");
	const news = form.querySelector("#draft-news");
	const place = `redeliver draft ${form.dataset.name}`;
	const written = () => JSON.stringify(fields.map((f) => [f.name, f.value]));

	let saved = written(); // what the server has
	let sending = null; // what is on its way
	let answered; // a promise that it was
	let asked = null; // the button of a check that waits for it
	let since = 0; // when the oldest unsaved change was made
	let begun = -spacing; // when the last request was sent
	let failures = 0;
	let stopped = false; // another tab has saved
	let leaving = false; // by sending the form
	let timer;

	const unsaved = () => written() !== saved;

	function say(text, isProblem) {
		news.textContent = text;
		news.classList.toggle("is-problem", isProblem);
	}

	function keep() {
		try {
			sessionStorage.setItem(place, JSON.stringify({ base: base.value, text: written(), sending }));
		} catch {
			// No room or no storage: the text is in the form, and leaving the page asks.
		}
	}

	function forget() {
		try {
			sessionStorage.removeItem(place);
		} catch {
			// Nothing was kept either.
		}
	}

	// A page that comes while its last draft is still on its way shows an older text:
	// then what was kept belongs on top of what is shown.
	function restore() {
		let kept;
		try {
			kept = JSON.parse(sessionStorage.getItem(place));
		} catch {
			return;
		}
		if (!kept || kept.text === saved) return forget();
		const values = new Map(JSON.parse(kept.text));
		if (kept.sending !== saved) base.value = kept.base;
		for (const f of fields) f.value = values.get(f.name) ?? f.value;
		say(form.dataset.restored, false);
		schedule();
	}

	function schedule() {
		if (stopped) return;
		const now = performance.now();
		since ||= now;
		const wait = Math.max(Math.min(pause, since + patience - now), begun + spacing - now, 0);
		clearTimeout(timer);
		timer = setTimeout(save, failures > 0 ? Math.max(wait, firstRetry) : wait);
	}

	function retry(response) {
		failures++;
		keep();
		say(response ? form.dataset.failed : form.dataset.offline, true);
		const asked = Number(response?.headers.get("Retry-After")) * 1000;
		clearTimeout(timer);
		timer = setTimeout(save, Math.max(asked || 0, Math.min(firstRetry * 2 ** (failures - 1), lastRetry)));
	}

	// byHand saves even what is saved already: it is then a version that somebody
	// wants. A check saves, too, and brings what the compiler says; check is its button.
	function save(byHand, check) {
		if (check && sending !== null) asked = check;
		if (sending !== null || stopped || (!byHand && !check && !unsaved())) return answered;
		answered = send(byHand, check);
		return answered;
	}

	// At the end of a sitting nobody may have paused to think: what is on its way was
	// an older text, so the newest follows it.
	async function flush() {
		if (sending !== null) await answered;
		await save();
	}

	async function send(byHand, check) {
		clearTimeout(timer);
		if (check) say(check.dataset.check, false);
		sending = written();
		since = 0;
		begun = performance.now();
		const body = new URLSearchParams(new FormData(form));
		if (!byHand) body.set("auto", "1");
		let response;
		let answer;
		try {
			const keepalive = body.toString().length < keepaliveLimit;
			response = await fetch(check?.formAction ?? form.dataset.drafts, { method: "POST", body, keepalive, headers: { Accept: "application/json" } });
			answer = response.headers.get("Content-Type")?.startsWith("application/json") ? await response.json() : null;
		} catch {
			response = answer = null;
		}
		const sent = sending;
		sending = null;
		if (answer?.version) done(sent, answer, byHand);
		else if (!answer) return retry(response);
		else refused(response, answer);
		const next = asked;
		asked = null;
		if (next) save(false, next);
	}

	function refused(response, answer) {
		stopped = response.status === 409;
		keep();
		say(answer.problem, true);
	}

	function done(sent, answer, byHand) {
		base.value = answer.version;
		saved = sent;
		form.dispatchEvent(new Event("drafted"));
		state.textContent = answer.state;
		if (answer.said) {
			say(answer.said, !answer.passed);
			form.dispatchEvent(new CustomEvent("checked", { detail: answer.diagnostics }));
		} else if (failures > 0) say(form.dataset.again, false);
		else say(byHand ? form.dataset.saved : "", false);
		failures = 0;
		forget();
		if (unsaved()) schedule();
	}

	form.addEventListener("input", () => {
		if (failures > 0 || stopped) keep();
		if (unsaved()) schedule();
	});
	form.addEventListener("save", () => save(true));
	form.addEventListener("submit", (event) => {
		if (event.submitter?.dataset.check && !stopped) {
			event.preventDefault();
			save(false, event.submitter);
			return;
		}
		if (navigator.onLine) {
			leaving = true;
			clearTimeout(timer);
			return;
		}
		event.preventDefault(); // the page of the browser that came instead would take the text with it
		keep();
		say(form.dataset.offline, true);
	});
	window.addEventListener("online", () => save());
	document.addEventListener("sitting-ends", (event) => event.detail.push(flush()));
	window.addEventListener("pageshow", (event) => {
		leaving = false;
		if (event.persisted && unsaved()) schedule();
	});
	document.addEventListener("visibilitychange", () => {
		if (document.visibilityState !== "hidden" || leaving || !unsaved()) return;
		keep();
		save();
	});
	window.addEventListener("beforeunload", (event) => {
		if (!leaving && unsaved() && (failures > 0 || stopped || !navigator.onLine)) event.preventDefault();
	});
	restore();
}
