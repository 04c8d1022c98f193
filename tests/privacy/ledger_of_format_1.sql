PRAGMA application_id = 1935897965;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        body TEXT NOT NULL,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL
    );
INSERT INTO "entries" VALUES(1,'2026-11-17T21:46:21+00:00','open','adult','{"ceiling":"1","unit":"add-remove"}','0000000000000000000000000000000000000000000000000000000000000000','726a97ccf2824c337292eac8b7197101e3dd89f99e1a6a539feb1df20bc82881');
INSERT INTO "entries" VALUES(2,'2026-11-17T21:46:21+00:00','reserve','adult','{"charged":"1","guarantee":{"epsilon":"1","kind":"PureDP","unit":"add-remove"},"method":"diffgen","spends":[{"epsilon":"1","label":"counts","times":1}]}','726a97ccf2824c337292eac8b7197101e3dd89f99e1a6a539feb1df20bc82881','21c262b3e9317b479eaafe4ca85952aa0a1f1f0947b0c2bd62e8974a3ba9cac5');
INSERT INTO "entries" VALUES(3,'2026-11-17T21:46:21+00:00','rows','adult','{"fingerprint":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f","reserve":"21c262b3e9317b479eaafe4ca85952aa0a1f1f0947b0c2bd62e8974a3ba9cac5"}','21c262b3e9317b479eaafe4ca85952aa0a1f1f0947b0c2bd62e8974a3ba9cac5','ef9a3c82198de6baa1a4347196faf0f47dcb24439f875fe3e3b19ddd777b634b');
INSERT INTO "entries" VALUES(4,'2026-11-17T21:46:21+00:00','settle','adult','{"release":"abababababababababababababababababababababababababababababababab","reserve":"21c262b3e9317b479eaafe4ca85952aa0a1f1f0947b0c2bd62e8974a3ba9cac5"}','ef9a3c82198de6baa1a4347196faf0f47dcb24439f875fe3e3b19ddd777b634b','1f3ca0de82f8749c2c1fdbd779a236d67b6dbb921c0a9ac625cb8582a4390e1c');
INSERT INTO "entries" VALUES(5,'2026-11-17T21:46:21+00:00','grant','adult','{"ceiling":"3","ceiling_delta":"0.000000001","reason":"a second wave"}','1f3ca0de82f8749c2c1fdbd779a236d67b6dbb921c0a9ac625cb8582a4390e1c','4fc53cc1954490a79ce3c4098579a9344c3b2bb57594dc2fa1a2cd00fbf1f2b6');
INSERT INTO "entries" VALUES(6,'2026-11-17T21:46:21+00:00','reserve','adult','{"charged":"1/3","guarantee":{"epsilon":"1/3","kind":"PureDP","unit":"add-remove"},"method":"diffgen","spends":[{"epsilon":"1","label":"counts","times":1}]}','4fc53cc1954490a79ce3c4098579a9344c3b2bb57594dc2fa1a2cd00fbf1f2b6','9d727c99b4f559a8e772c6e23094f8856a8e7757d2e3b01d2db789a79881057f');
INSERT INTO "entries" VALUES(7,'2026-11-17T21:46:21+00:00','open','north','{"ceiling":"0.5","unit":"add-remove"}','9d727c99b4f559a8e772c6e23094f8856a8e7757d2e3b01d2db789a79881057f','c5b825687bf2a084891e9c5753aac87fbbdbdb7c4da4d90f461b6abf3fb30c04');
INSERT INTO "entries" VALUES(8,'2026-11-17T21:46:21+00:00','reserve','north','{"charged":"0.5","guarantee":{"coalition":1,"delta":"1/1152921504606846976","epsilon":"0.5","kind":"JointDP","unit":"add-remove"},"method":"diffgen","session":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","spends":[{"epsilon":"1","label":"counts","times":1}]}','c5b825687bf2a084891e9c5753aac87fbbdbdb7c4da4d90f461b6abf3fb30c04','5b2af9947e95d3131ace82c0bfd345cf9ad67e1c0770c914947249d86cae4850');
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL);
INSERT INTO "meta" VALUES('key',X'7AD023947EC21D6953C9CC8AAA6D1B2A709D04D25A1E876008D6C38EB5E1AB05');
CREATE TRIGGER entries_follow BEFORE INSERT ON entries
        WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
        BEGIN SELECT RAISE(ABORT, 'entries are added at the end only'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('entries',8);
COMMIT;
