package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"
)

// URLField is the address of a webhook.
const URLField = "url"

// WebhookForm is the form for a new address, as it was sent.
type WebhookForm struct {
	URL     string
	Problem FormProblem
}

// WebhookLine is an address that is told what happens.
type WebhookLine struct {
	ID        int64
	URL       string
	CreatedAt time.Time
	Forbidden bool // the program may not send there as it was started
}

// WebhooksModel is the model of Webhooks.
type WebhooksModel struct {
	Page
	Lines   []WebhookLine
	Off     bool // the program may send nowhere
	Form    WebhookForm
	Problem fieldProblem
	Notice  string
}

// NewWebhooks builds the model of Webhooks. notice is "" or "deleted".
func NewWebhooks(p Page, lines []WebhookLine, off bool, form WebhookForm, notice string) (WebhooksModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("webhook.title"), t.say("webhook.lead")
	m := WebhooksModel{Page: p, Lines: lines, Off: off, Form: form, Problem: t.problem(form.Problem)}
	if notice != "" {
		m.Notice = t.say("webhook.notice-" + notice)
	}
	return m, t.err
}

// WebhookSecretModel is the model of WebhookSecret.
type WebhookSecretModel struct {
	Page
	Line   WebhookLine
	Secret string
}

// NewWebhookSecret builds the model of WebhookSecret.
func NewWebhookSecret(p Page, line WebhookLine, secret string) (WebhookSecretModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("webhook.made"), t.say("webhook.lead")
	return WebhookSecretModel{Page: p, Line: line, Secret: secret}, t.err
}

// DeliveryLine is a message in the log of an address.
type DeliveryLine struct {
	ID        int64
	At        time.Time
	Event     string
	State     string // waits, delivered, failed
	Attempts  int
	Status    int // of the last answer; 0: there was none
	Error     string
	MessageID string
}

// WebhookModel is the model of Webhook.
type WebhookModel struct {
	Page
	Line   WebhookLine
	Lines  []DeliveryLine
	Older  int64 // where older messages begin; 0: there are none
	Notice string
}

// NewWebhook builds the model of Webhook. notice is "", "test" or "again".
func NewWebhook(p Page, line WebhookLine, lines []DeliveryLine, older int64, notice string) (WebhookModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("webhook.one", "N", line.ID), t.say("webhook.lead")
	m := WebhookModel{Page: p, Line: line, Lines: lines, Older: older}
	if notice != "" {
		m.Notice = t.say("webhook.notice-" + notice)
	}
	return m, t.err
}

// WebhooksURL lists the addresses that are told what happens in sittings.
func WebhooksURL(root Root) templ.SafeURL { return PeopleURL(root) + "/webhooks" }

// WebhookURL is one of them with its log.
func WebhookURL(root Root, id int64) templ.SafeURL {
	return WebhooksURL(root) + templ.SafeURL("/"+strconv.FormatInt(id, 10))
}

func olderDeliveries(root Root, id, before int64) templ.SafeURL {
	return WebhookURL(root, id) + templ.SafeURL("?before="+strconv.FormatInt(before, 10))
}

func repeatURL(root Root, id, delivery int64) templ.SafeURL {
	return WebhookURL(root, id) + templ.SafeURL("/deliveries/"+strconv.FormatInt(delivery, 10)+"/repeat")
}
