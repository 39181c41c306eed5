package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views"
	"redeliver/web/webhook"
)

// webhooksShow lists the addresses that are told what happens in sittings.
func (s *Server) webhooksShow(c echo.Context) error {
	notice := c.QueryParam("notice")
	if notice != "deleted" {
		notice = ""
	}
	return s.showWebhooks(c, http.StatusOK, views.WebhookForm{}, notice)
}

func (s *Server) showWebhooks(c echo.Context, status int, form views.WebhookForm, notice string) error {
	list, err := s.store.Webhooks(c.Request().Context())
	if err != nil {
		return err
	}
	lines := make([]views.WebhookLine, 0, len(list))
	for _, w := range list {
		lines = append(lines, s.webhookLine(w))
	}
	m, err := views.NewWebhooks(s.page(c), lines, s.cfg.Webhooks.Off(), form, notice)
	if err != nil {
		return err
	}
	return render(c, status, views.Webhooks(m))
}

// webhookLine says of an address, too, when it is not allowed any more.
func (s *Server) webhookLine(w store.Webhook) views.WebhookLine {
	_, err := s.cfg.Webhooks.Check(w.URL)
	return views.WebhookLine{ID: w.ID, URL: w.URL, CreatedAt: w.CreatedAt, Forbidden: err != nil}
}

// webhookCreate keeps an address and shows its secret once.
func (s *Server) webhookCreate(c echo.Context) error {
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	form := views.WebhookForm{URL: strings.TrimSpace(sent.Get(views.URLField))}
	made := store.Webhook{URL: form.URL, Secret: webhook.NewSecret(), CreatedAt: s.cfg.Now()}
	if err = s.allowed(form.URL); err == nil {
		made.ID, err = s.store.AddWebhook(c.Request().Context(), s.actor(c), made, s.cfg.Now())
	}
	if errors.Is(err, store.ErrFull) {
		err = &auth.FieldError{Name: "url", Reason: "full"}
	}
	var field *auth.FieldError
	if errors.As(err, &field) {
		if field.Reason == "form" && len(form.URL) > webhook.MaxURL {
			form.URL = "" // it would only be in the way
		}
		form.Problem = views.FormProblem{Field: field.Name, Reason: field.Reason}
		return s.showWebhooks(c, statusOfField(field), form, "")
	}
	if err != nil {
		return err
	}
	m, err := views.NewWebhookSecret(s.page(c), s.webhookLine(made), made.Secret)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.WebhookSecret(m))
}

// allowed says with an *auth.FieldError why messages may not go to an address.
func (s *Server) allowed(address string) error {
	_, err := s.cfg.Webhooks.Check(address)
	switch {
	case errors.Is(err, webhook.ErrURL):
		return &auth.FieldError{Name: "url", Reason: "form"}
	case errors.Is(err, webhook.ErrPlain):
		return &auth.FieldError{Name: "url", Reason: "plain"}
	case errors.Is(err, webhook.ErrForbidden):
		return &auth.FieldError{Name: "url", Reason: "forbidden"}
	}
	return err
}

// webhookShow is one address with its log.
func (s *Server) webhookShow(c echo.Context) error {
	w, err := s.webhookIn(c)
	if err != nil {
		return err
	}
	before, err := placeIn(c)
	if err != nil {
		return err
	}
	list, err := s.store.Deliveries(c.Request().Context(), w.ID, before, logPage+1)
	if err != nil {
		return err
	}
	list, older := pageOf(list, logPage, func(d store.Delivery) int64 { return d.ID })
	lines := make([]views.DeliveryLine, 0, len(list))
	for _, d := range list {
		lines = append(lines, views.DeliveryLine{
			ID: d.ID, At: d.CreatedAt, Event: string(d.Event), State: string(d.State), Attempts: d.Attempts,
			Status: d.Status, Error: d.Error, MessageID: d.MessageID,
		})
	}
	notice := c.QueryParam("notice")
	if !slices.Contains([]string{"test", "again"}, notice) {
		notice = ""
	}
	m, err := views.NewWebhook(s.page(c), s.webhookLine(w), lines, older, notice)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Webhook(m))
}

func (s *Server) webhookIn(c echo.Context) (store.Webhook, error) {
	id, err := idOf(c)
	if err != nil {
		return store.Webhook{}, err
	}
	return s.store.Webhook(c.Request().Context(), id)
}

// webhookReturn answers the addresses of the forms of the page.
func (s *Server) webhookReturn(c echo.Context) error {
	w, err := s.webhookIn(c)
	if err != nil {
		return err
	}
	return s.toWebhook(c, w.ID, "")
}

func (s *Server) toWebhook(c echo.Context, id int64, notice string) error {
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.WebhookURL(s.home(c), id), notice)))
}
