package web

import (
	"fmt"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// render draws into a buffer first: a view that fails must not have sent half a
// page with status 200.
func render(c echo.Context, status int, view templ.Component) error {
	buf := templ.GetBuffer()
	defer templ.ReleaseBuffer(buf)
	if err := view.Render(c.Request().Context(), buf); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return c.HTMLBlob(status, buf.Bytes())
}
