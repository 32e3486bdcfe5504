using System.IO.Pipelines;

namespace Corfu.Server;

/// <summary>First byte of a connection.</summary>
internal enum FirstByte
{
    /// <summary>The peer has sent none.</summary>
    None,
    Plain,
    Tls,
}

internal static class FirstBytes
{
    /// <summary>First byte of a TLS record with a handshake. A plain handshake of the cluster begins with 'C'; a length
    /// below 256 MiB, and a word of letters, begin otherwise too.</summary>
    private const byte HandshakeRecord = 0x16;

    /// <summary>Leaves the byte where it is.</summary>
    public static async ValueTask<FirstByte> ReadAsync(PipeReader input, CancellationToken cancellationToken)
    {
        var read = await input.ReadAsync(cancellationToken).ConfigureAwait(false);
        var first = read.Buffer.IsEmpty
            ? FirstByte.None
            : read.Buffer.FirstSpan[0] == HandshakeRecord ? FirstByte.Tls : FirstByte.Plain;
        input.AdvanceTo(read.Buffer.Start);
        return first;
    }
}
