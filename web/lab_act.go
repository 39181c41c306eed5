package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/web/labs"
	"redeliver/web/views"
)

// labAct does what a button says and leads back to the page.
func (s *Server) labAct(c echo.Context) error {
	slug, err := s.labSlug(c)
	if err != nil {
		return err
	}
	if !s.labClicks.allow(c.RealIP()) {
		return later(c, 30, &problem{status: http.StatusTooManyRequests, message: "lab.too-many"})
	}
	sent, err := postedForm(c)
	if err != nil {
		return err
	}
	action, choices := "", map[string]string{}
	for name, values := range sent {
		if name == "action" {
			action = values[0]
		} else {
			choices[name] = values[0]
		}
	}
	if action == "start" && len(choices) == 0 {
		action = "" // only start it
	}
	visitor := labs.Visitor{ID: string(s.introduce(c)), Network: network(c.RealIP())}
	err = s.rooms.Do(c.Request().Context(), visitor, slug, action, choices)
	notice := ""
	switch {
	case errors.Is(err, labs.ErrUnknown):
		return badRequest("act in a lab: %w", err)
	case errors.Is(err, labs.ErrFull):
		return later(c, 120, &problem{status: http.StatusServiceUnavailable, message: "lab.full", cause: err})
	case errors.Is(err, labs.ErrCrowded):
		return later(c, 120, &problem{status: http.StatusTooManyRequests, message: "lab.crowded", cause: err})
	case errors.Is(err, labs.ErrNotNow):
		notice = "stale"
	case err != nil:
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(views.WithNotice(views.LabURL(s.home(c), slug), notice)))
}
