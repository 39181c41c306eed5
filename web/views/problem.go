package views

import (
	"strconv"

	"github.com/a-h/templ"
)

// ProblemModel is the model of Problem.
type ProblemModel struct {
	Page
	Message   string
	RequestID string
	Anew      templ.SafeURL // where a run that is out of date can be watched as it is today, or ""
}

// problemStatuses are those that have words of their own.
var problemStatuses = [...]int{400, 403, 404, 405, 410, 413, 429, 500, 503}

// NewProblem builds the model of Problem for an HTTP status. maxBytes is the
// limit that the page for 413 names.
func NewProblem(p Page, status int, requestID string, maxBytes int) (ProblemModel, error) {
	t := text{words: p.Words}
	id := "problem." + strconv.Itoa(known(status))
	p.Card = "" // nobody links to an error
	p.Title, p.Description = t.say(id), t.say("site.description")
	return ProblemModel{Page: p, Message: t.say(id+"-text", "Max", maxBytes), RequestID: requestID}, t.err
}

// known is the status itself if there are words for it, otherwise the most
// general one of its class.
func known(status int) int {
	for _, s := range problemStatuses {
		if s == status {
			return s
		}
	}
	if status >= 400 && status < 500 {
		return 400
	}
	return 500
}
