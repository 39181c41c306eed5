package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestHostileRequests sends what no browser sends, byte for byte, one file of
// grader/testdata/hostile/requests each, to a server as it runs: with its limits
// of time and size. A comment has the status and a sentence of the page that
// answers. A Host and the length are added where a file has none; the files are
// templates between « and ».
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../grader/testdata/hostile/requests/*.txtar")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d requests, err %v", len(paths), err)
	}
	b := setup(t, Config{}, testCatalog())
	address := serve(t, b.srv)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%d files, err %v", len(archive.Files), err)
			}
			status, says := "", ""
			for line := range strings.Lines(string(archive.Comment)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				switch key {
				case "status":
					status = value
				case "says", "says:":
					says = value
				default:
					t.Fatalf("unknown key %q", key)
				}
			}
			got, body := exchange(t, address, rawRequest(t, archive))
			if strconv.Itoa(got) != status || !strings.Contains(body, says) {
				t.Errorf("status %d, want %s with %q\n%.3000s", got, status, says, body)
			}
			if a, _ := exchange(t, address, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); a != http.StatusOK {
				t.Errorf("afterwards the server answers %d", a)
			}
		})
	}
}

// A client that sends a byte now and then is not waited for.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	b := setup(t, Config{}, testCatalog())
	conn := dial(t, serve(t, b.srv))
	if _, err := io.WriteString(conn, "GET /en/ HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // against hanging
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection is still open: %q, %v", answer, err)
	}
}

// serve starts a server with the limits that the program has.
func serve(t *testing.T, s *Server) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), ln) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil { // the test's context has ended
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// rawRequest makes the bytes of a request.
func rawRequest(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	functions := template.FuncMap{
		"repeat": func(n int, text string) string { return strings.Repeat(text, n) },
		"count": func(n int) []int {
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			return all
		},
	}
	parts := make([]string, 2)
	for i, f := range archive.Files {
		text, err := template.New(f.Name).Delims("«", "»").Funcs(functions).Parse(string(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := text.Execute(&out, nil); err != nil {
			t.Fatal(err)
		}
		parts[i] = strings.TrimSuffix(out.String(), "\n")
	}
	head := strings.ReplaceAll(parts[0], "\n", "\r\n")
	if !strings.Contains(head, "\r\nHost:") {
		head += "\r\nHost: redeliver.example"
	}
	if strings.HasPrefix(head, "POST") && !strings.Contains(head, "\r\nContent-Length:") {
		head += fmt.Sprintf("\r\nContent-Length: %d", len(parts[1]))
	}
	return head + "\r\nConnection: close\r\n\r\n" + parts[1]
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	return conn
}

// exchange sends bytes and reads the answer. A server that refuses may stop
// reading before it has everything.
func exchange(t *testing.T, address, request string) (status int, body string) {
	t.Helper()
	conn := dial(t, address)
	go func() { _, _ = io.WriteString(conn, request) }()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil && status == http.StatusOK {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
