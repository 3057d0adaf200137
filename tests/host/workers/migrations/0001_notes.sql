-- What the Workers write down for the tests to read; a trigger, to see that statements are split rightly.
CREATE TABLE notes (
  id   INTEGER PRIMARY KEY,
  kind TEXT    NOT NULL,
  text TEXT    NOT NULL,
  size INTEGER
);

CREATE TRIGGER notes_size AFTER INSERT ON notes
BEGIN
  UPDATE notes SET size = length(NEW.text) WHERE id = NEW.id;
END;
