package views

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// The addresses below are used by the views and by the redirects of package
// web. Exercises are named pack/slug. The addresses of exercises, submissions and
// histories begin with Page.Root, which may be inside of a sitting; all others with
// Page.Home.

// HomeURL is the first page in a language.
func HomeURL(root Root) templ.SafeURL { return templ.SafeURL(root.path) }

// ExercisesURL is the list of exercises.
func ExercisesURL(root Root) templ.SafeURL { return HomeURL(root) + "exercises" }

// ExerciseURL is the page of an exercise.
func ExerciseURL(root Root, name string) templ.SafeURL {
	pack, slug, _ := strings.Cut(name, "/")
	return HomeURL(root) + templ.SafeURL("exercises/"+url.PathEscape(pack)+"/"+url.PathEscape(slug))
}

// QuestionsURL is the list of questions.
func QuestionsURL(root Root) templ.SafeURL { return HomeURL(root) + "questions" }

// QuestionURL is the page of a question.
func QuestionURL(root Root, slug string) templ.SafeURL {
	return QuestionsURL(root) + "/" + templ.SafeURL(url.PathEscape(slug))
}

// OwnAnswerURL is where the reader's answer to a question is posted.
func OwnAnswerURL(root Root, slug string) templ.SafeURL {
	return QuestionURL(root, slug) + "/own-answer"
}

// GlossaryURL is the list of terms.
func GlossaryURL(root Root) templ.SafeURL { return HomeURL(root) + "glossary" }

// WatchURL leads to a run in which a wrong handler of an exercise fails, or its
// starter when wrong is empty.
func WatchURL(root Root, name, wrong string) templ.SafeURL {
	u := ExerciseURL(root, name) + "/watch"
	if wrong != "" {
		u += "/" + templ.SafeURL(url.PathEscape(wrong))
	}
	return u
}

// ExerciseVersionURL is the page of an exercise with one version of the draft in
// the form; version 0 is the starter.
func ExerciseVersionURL(root Root, name string, version int64) templ.SafeURL {
	return ExerciseURL(root, name) + templ.SafeURL("?version="+strconv.FormatInt(version, 10))
}

// SubmitURL is where the form of an exercise posts a submission to.
func SubmitURL(root Root, name string) templ.SafeURL { return ExerciseURL(root, name) + "/submissions" }

// DraftsURL is where the form of an exercise posts a draft to.
func DraftsURL(root Root, name string) templ.SafeURL { return ExerciseURL(root, name) + "/drafts" }

// CheckURL is where the form of an exercise posts to for what the compiler says.
func CheckURL(root Root, name string) templ.SafeURL { return ExerciseURL(root, name) + "/checks" }

// ResetURL is where the form of an exercise posts to for the starter.
func ResetURL(root Root, name string) templ.SafeURL { return ExerciseURL(root, name) + "/reset" }

// HistoryURL is the page of what was written for an exercise, with what changed
// between two texts that HistoryRef names; for "" the page chooses.
func HistoryURL(root Root, name, from, to string) templ.SafeURL {
	u := ExerciseURL(root, name) + "/history"
	query := url.Values{}
	for key, ref := range map[string]string{"from": from, "to": to} {
		if ref != "" {
			query.Set(key, ref)
		}
	}
	if len(query) == 0 {
		return u
	}
	return u + templ.SafeURL("?"+query.Encode())
}

// SubmissionURL is the page of a submission.
func SubmissionURL(root Root, publicID string) templ.SafeURL {
	return HomeURL(root) + templ.SafeURL("submissions/"+url.PathEscape(publicID))
}

// EventsURL is the stream of what happens after the given step.
func EventsURL(root Root, publicID string, after int64) templ.SafeURL {
	return SubmissionURL(root, publicID) + templ.SafeURL("/events?after="+strconv.FormatInt(after, 10))
}

// WithNotice adds the name of a notice that the page then shows.
func WithNotice(u templ.SafeURL, notice string) templ.SafeURL {
	if notice == "" {
		return u
	}
	return u + templ.SafeURL("?notice="+url.QueryEscape(notice))
}

// RunURL is the page of one schedule, which is run again to be shown.
func RunURL(root Root, token string) templ.SafeURL {
	return HomeURL(root) + templ.SafeURL("runs/"+url.PathEscape(token))
}

// RunFile is the ending of a run's address that gives its timeline as a file.
type RunFile string

// The files of a run.
const (
	TextFile    RunFile = ".txt"
	MermaidFile RunFile = ".mmd"
	JSONFile    RunFile = ".json"
	PictureFile RunFile = ".png"
)

// RunFileURL is the timeline of a run as a file.
func RunFileURL(root Root, token string, f RunFile) templ.SafeURL {
	return RunURL(root, token) + templ.SafeURL(f)
}

// CardURL is the picture that stands for a page where its link is shown.
func CardURL(page templ.SafeURL) templ.SafeURL {
	return templ.SafeURL(strings.TrimSuffix(string(page), "/")) + "/card.png"
}

// PredictURL is where a prediction for an exercise is posted to.
func PredictURL(root Root, name string) templ.SafeURL {
	return ExerciseURL(root, name) + "/predictions"
}

// ReviewURL is the page of the card that is due; ratings are posted to it.
func ReviewURL(root Root) templ.SafeURL { return HomeURL(root) + "review" }

// ProgressURL is the page about what a browser has practised.
func ProgressURL(root Root) templ.SafeURL { return HomeURL(root) + "progress" }

// ExportURL is the file with what a browser has practised.
func ExportURL(root Root) templ.SafeURL { return ProgressURL(root) + "/redeliver-progress.json" }

// ImportURL is where such a file is posted to, in the field ImportField.
func ImportURL(root Root) templ.SafeURL { return ProgressURL(root) + "/import" }

// ImportField is the name of the form field with a file.
const ImportField = "file"

// ForgetURL is where a browser asks to be forgotten.
func ForgetURL(root Root) templ.SafeURL { return ProgressURL(root) + "/forget" }
