-- Takes the keys of page addresses out of a text before it is indexed or cut, so that no search finds a part of a key.
-- What the service stores has no keys (src/platform/core/page-keys.ts); texts that people paste can.
CREATE OR REPLACE FUNCTION without_page_keys(of_text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN of_text ~* 'miniapps|act|token' THEN regexp_replace(regexp_replace(regexp_replace(of_text,
    '(miniapps(?:\\*/|%(?:25)*2F|&#x2F;|&#47;)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[\w-]*', '\1', 'gi'),
    '(miniapps(?:\\*/|%(?:25)*2F|&#x2F;|&#47;))[\w-]{37,}', '\1***', 'gi'),
    '((?:act(?:\\*/|%(?:25)*2F|&#x2F;|&#47;)|token(?:=|%(?:25)*3D|&#x3D;|&#61;)))[\w-]{10,}\.(?:[\w-]{1,40}\.)?[\w-]{16,}', '\1***', 'gi')
  ELSE of_text END;
$$;

-- Returns the words of a text. Characters that join words to addresses, paths, numbers and tags become spaces, so that
-- every word is found by itself; src/resources/search/words.ts splits a query in the same way.
CREATE OR REPLACE FUNCTION search_words(of_text text, weight "char")
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT setweight(to_tsvector('simple'::regconfig, translate(left(coalesce(without_page_keys(of_text), ''), 50000), './-_:@&<>=?%~+#*\''', '                  ')), weight);
$$;

-- Returns the marks of a document. They stand among its words and begin with a character that no word has, so that one
-- look into the index is of one workspace.
CREATE OR REPLACE FUNCTION search_marks(of_customer text, of_kind text, status text, agent text)
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_to_tsvector(array_remove(array['@' || of_customer, '#' || of_kind, '%' || status, '~' || agent], NULL));
$$;
