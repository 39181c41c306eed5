package content

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"
)

// The directive go:embed drops names that begin with _ or a dot, without a
// word; TestEmbedded compares with the disk.
//
//go:embed questions labs glossary.en.md glossary.ru.md glossary.de.md
var embedded embed.FS

// Files is the folder that the built-in bank is read from.
func Files() fs.FS { return embedded }

var builtin = sync.OnceValues(func() (*Bank, error) {
	bank, problems := Load(Files())
	if len(problems) > 0 {
		return nil, fmt.Errorf("load the question bank:\n%s", problems)
	}
	return bank, nil
})

// Questions gives the built-in bank, which is read once. The error lists its
// problems, one a line; Load gives them as data.
func Questions() (*Bank, error) { return builtin() }
