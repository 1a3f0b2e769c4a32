//! PostgreSQL's protocol, written by hand over a Unix socket: a hostile client sends what no client library does, such as bytes that are not
//! text, binary parameters of the wrong length, and calls of functions by OID (the "fast path").
//!
//! An ERROR does not end a session; `Lost` means that the connection ended or the server does not answer.

use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// When a server counts as hung: statement_timeout ends every statement long before.
const HANG: Duration = Duration::from_secs(120);

pub struct Client {
    stream: BufReader<UnixStream>,
    /// The transaction's state: `I` none, `T` open, `E` failed.
    pub state: u8,
}

/// The connection is gone, or the server hangs: a crash, unless the server's log says otherwise.
#[derive(Debug)]
pub struct Lost(pub String);

impl From<std::io::Error> for Lost {
    fn from(error: std::io::Error) -> Lost {
        Lost(error.to_string())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Complaint {
    pub code: String,
    pub text: String,
}

#[derive(Debug, Default)]
pub struct Reply {
    pub errors: Vec<Complaint>,
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl Reply {
    /// The first column of the first row, as text.
    pub fn text(&self) -> String {
        let value = self.rows.first().and_then(|row| row.first()).and_then(Option::as_deref);
        String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
    }
}

/// A parameter or argument: NULL, or bytes in text or binary form.
pub type Bytes = Option<Vec<u8>>;

impl Client {
    pub fn open(host: &str, port: u16, user: &str, database: &str, options: &str) -> Result<Client, Lost> {
        let stream = UnixStream::connect(format!("{host}/.s.PGSQL.{port}"))?;
        stream.set_read_timeout(Some(HANG))?;
        let mut client = Client { stream: BufReader::new(stream), state: b'I' };
        let mut body = 196_608_i32.to_be_bytes().to_vec();
        for (name, value) in [("user", user), ("database", database), ("options", options)] {
            for part in [name, value] {
                body.extend(part.as_bytes());
                body.push(0);
            }
        }
        body.push(0);
        client.write(&frame(None, &body))?;
        let reply = client.reply()?;
        match reply.errors.first() {
            Some(error) => Err(Lost(format!("{} {}", error.code, error.text))),
            None => Ok(client),
        }
    }

    /// A simple query: any bytes but NUL.
    pub fn query(&mut self, sql: &[u8]) -> Result<Reply, Lost> {
        let mut body = sql.to_vec();
        body.push(0);
        self.write(&frame(Some(b'Q'), &body))?;
        self.reply()
    }

    /// Parse, Bind, Execute, Sync; the server infers the parameters' types.
    pub fn extended(&mut self, sql: &[u8], parameters: &[Bytes], binary: bool) -> Result<Reply, Lost> {
        let mut parse = vec![0];
        parse.extend(sql);
        parse.extend([0, 0, 0]);
        let mut bind = vec![0, 0, 0, 1, 0, u8::from(binary)];
        push_all(&mut bind, parameters);
        bind.extend([0, 0]);
        let mut all = frame(Some(b'P'), &parse);
        all.extend(frame(Some(b'B'), &bind));
        all.extend(frame(Some(b'E'), &[0, 0, 0, 0, 0]));
        all.extend(frame(Some(b'S'), &[]));
        self.write(&all)?;
        self.reply()
    }

    /// A function call by OID.
    pub fn call(&mut self, function: u32, arguments: &[Bytes], binary: bool) -> Result<Reply, Lost> {
        let mut body = function.to_be_bytes().to_vec();
        body.extend([0, 1, 0, u8::from(binary)]);
        push_all(&mut body, arguments);
        body.extend([0, 0]);
        self.write(&frame(Some(b'F'), &body))?;
        self.reply()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        Ok(self.stream.get_mut().write_all(bytes)?)
    }

    /// Reads everything up to ReadyForQuery.
    fn reply(&mut self) -> Result<Reply, Lost> {
        let mut reply = Reply::default();
        loop {
            let (kind, body) = match self.message() {
                Ok(message) => message,
                Err(Lost(text)) => {
                    let said = reply.errors.iter().map(|e| format!("{} {}; ", e.code, e.text)).collect::<String>();
                    return Err(Lost(format!("{said}{text}")));
                }
            };
            match kind {
                b'E' => {
                    let error = complaint(&body);
                    let fatal = body.starts_with(b"SFATAL") || body.starts_with(b"SPANIC");
                    if fatal {
                        return Err(Lost(format!("{} {}", error.code, error.text)));
                    }
                    reply.errors.push(error);
                }
                b'D' => reply.rows.push(row(&body)),
                b'V' => reply.rows.push(vec![value(&body, &mut 0)]),
                // COPY FROM STDIN: sends no data.
                b'G' => self.write(&frame(Some(b'f'), b"no\0"))?,
                b'Z' => {
                    self.state = body.first().copied().unwrap_or(b'I');
                    return Ok(reply);
                }
                b'R' if body[..] != [0, 0, 0, 0] => return Err(Lost("the server wants a password".into())),
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Result<(u8, Vec<u8>), Lost> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length.saturating_sub(4)];
        self.stream.read_exact(&mut body)?;
        Ok((head[0], body))
    }
}

fn frame(kind: Option<u8>, body: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = kind.into_iter().collect();
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// Encodes a count, then each value with its length.
fn push_all(into: &mut Vec<u8>, values: &[Bytes]) {
    into.extend((values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            Some(bytes) => {
                into.extend((bytes.len() as u32).to_be_bytes());
                into.extend(bytes);
            }
            None => into.extend(u32::MAX.to_be_bytes()),
        }
    }
}

fn row(body: &[u8]) -> Vec<Bytes> {
    let mut at = 2;
    let count = u16::from_be_bytes([body[0], body[1]]);
    (0..count).map(|_| value(body, &mut at)).collect()
}

fn value(body: &[u8], at: &mut usize) -> Bytes {
    let length = i32::from_be_bytes(body[*at..*at + 4].try_into().unwrap_or_default());
    *at += 4;
    let length = usize::try_from(length).ok()?;
    *at += length;
    Some(body[*at - length..*at].to_vec())
}

fn complaint(body: &[u8]) -> Complaint {
    let field = |wanted: u8| {
        let found = body.split(|byte| *byte == 0).find(|part| part.first() == Some(&wanted));
        String::from_utf8_lossy(found.map_or(&[][..], |part| &part[1..])).into_owned()
    };
    Complaint { code: field(b'C'), text: field(b'M') }
}
