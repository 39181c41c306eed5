package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
	"redeliver/web/views"
)

// logPage is how many entries a page of a log has.
const logPage = 50

// placeIn reads from the address where a page of a log begins; 0: at the newest entry.
func placeIn(c echo.Context) (before int64, err error) {
	before, ok := askedID(c, "before")
	if !ok {
		return 0, badRequest("read the place in the log: %q", c.QueryParam("before"))
	}
	return before, nil
}

// askedID reads the id that a list begins after; without one it is 0.
func askedID(c echo.Context, from string) (id int64, ok bool) {
	text := c.QueryParam(from)
	if text == "" {
		return 0, true
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}

// pageOf takes the entry that was asked for beyond the limit off. next is the id of the
// last one on the page, or 0 when nothing follows.
func pageOf[T any](list []T, limit int, id func(T) int64) (page []T, next int64) {
	if len(list) <= limit {
		return list, 0
	}
	return list[:limit], id(list[limit-1])
}

// auditShow lists who did what with accounts, the newest first.
func (s *Server) auditShow(c echo.Context) error {
	before, err := placeIn(c)
	if err != nil {
		return err
	}
	entries, err := s.store.Audit(c.Request().Context(), before, logPage+1)
	if err != nil {
		return err
	}
	entries, older := pageOf(entries, logPage, func(e store.Entry) int64 { return e.ID })
	var lines []views.AuditLine
	for _, e := range entries {
		lines = append(lines, views.AuditLine{At: e.At, Who: e.Who, Action: string(e.Action), Subject: e.Subject, Network: e.Network})
	}
	m, err := views.NewAudit(s.page(c), lines, older)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Audit(m))
}
