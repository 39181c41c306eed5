package content

// Languages are those in which every text must be there.
func Languages() []string { return []string{"en", "ru", "de"} }

// Levels are the experience that an answer asks for, in rising order.
func Levels() []string { return []string{"junior", "middle", "senior", "staff"} }

// Topic is something by which the bank can be filtered.
type Topic struct {
	ID    string            // "delivery"
	Title map[string]string // by language
}

// Question is one question of the bank with all that is said about it.
type Question struct {
	Slug      string // its folder and its address
	Level     string // one of Levels
	Topics    []string
	Exercises []string        // names such as "core/charge-once", in the order in which to do them
	FollowUps []string        // slugs of what an interviewer asks next
	Sources   []Source        // what the facts were checked against
	Text      map[string]Text // by language

	file string // question.yaml, for problems
	at   map[string]position
}

// Source is what a reader can look a fact up in.
type Source struct {
	Title   string // "KIP-98 - Exactly Once Delivery and Transactional Messaging"
	URL     string // https
	Checked string // the day on which the text was last compared with it: 2026-11-29; "" until somebody has
	Version string // of the software that it was read for: "Kafka 4.1"
}

// Text is a question in one language.
type Text struct {
	Question string    // plain text, one line
	Tests    Prose     // what the interviewer wants to find out
	Short    Prose     // the answer as one would say it aloud
	Depth    Prose     // the answer to "and why is that so?"
	Green    []Prose   // what makes an interviewer glad
	Red      []Prose   // what makes one doubt
	Pitfalls []Pitfall // the same ones in the same order in each language
}

// Pitfall is a wrong claim that people make.
type Pitfall struct {
	ID    string // unique in its question: "acks-all-is-enough"
	Claim Prose  // as people say it; one line
	Why   Prose  // what is wrong with it
	Run   *Run   // what refutes it before one's eyes; nil when nothing does yet
}

// Run names a handler that does what the claim believes in, and fails.
type Run struct {
	Exercise string // "core/charge-once"
	Wrong    string // name of a wrong handler of the exercise; "" for its starter
}

// Prose is Markdown and the same as HTML that is safe to show. The HTML of a
// claim or a flag has no paragraph around it.
type Prose struct {
	Markdown string
	HTML     string
}
