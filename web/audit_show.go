package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"redeliver/web/views"
)

// auditPage is how many entries a page of the log has.
const auditPage = 50

// auditShow lists who did what with accounts, the newest first.
func (s *Server) auditShow(c echo.Context) error {
	var before int64
	if at := c.QueryParam("before"); at != "" {
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil || n < 1 {
			return badRequest("read the place in the log: %q", at)
		}
		before = n
	}
	entries, err := s.store.Audit(c.Request().Context(), before, auditPage+1)
	if err != nil {
		return err
	}
	older := int64(0)
	if len(entries) > auditPage {
		entries = entries[:auditPage]
		older = entries[auditPage-1].ID
	}
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
