"""An https proxy in front of Home Assistant, as for a home with access from outside."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_HOST = "127.0.0.1"
_CHUNK = 65_536


@asynccontextmanager
async def https_front(url: str, folder: Path) -> AsyncIterator[str]:
    """Return an https address that leads to `url`, with a certificate that browsers don't trust."""
    port = urlsplit(url).port
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        home_reader, home_writer = await asyncio.open_connection(_HOST, port)
        try:
            await asyncio.gather(_pass_on(reader, home_writer), _pass_on(home_reader, writer))
        except ConnectionError:
            pass  # A closed browser ends its connections without notice.
        finally:
            home_writer.close()
            writer.close()

    server = await asyncio.start_server(serve, _HOST, 0, ssl=_context(folder))
    yield f"https://{_HOST}:{server.sockets[0].getsockname()[1]}"
    server.close()
    for task in tuple(connections):
        task.cancel()
    await asyncio.gather(*connections, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    writer.close()


def _context(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _HOST)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(_HOST))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "https.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    return context
