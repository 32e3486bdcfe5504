using System.Buffers;

namespace Craq.Hosting.Memcached;

/// <summary>Cuts a connection's bytes into commands of the binary protocol. Behind a malformed command nothing is to be
/// read.</summary>
internal sealed class FrameReader(int maxValue)
{
    // The command whose body is being read; null: a header is next.
    private BinaryCommand? _open;

    private readonly DataBlock _body = new();

    /// <summary>Takes bytes from the beginning of the buffer.</summary>
    /// <returns>The next command; null: more bytes are needed.</returns>
    public BinaryCommand? Read(ref ReadOnlySequence<byte> buffer)
    {
        if (_open is null)
        {
            if (buffer.Length < BinaryHeader.Size) return null;
            Span<byte> header = stackalloc byte[BinaryHeader.Size];
            buffer.Slice(0, BinaryHeader.Size).CopyTo(header);
            buffer = buffer.Slice(BinaryHeader.Size);
            var begun = BinaryParser.Begin(BinaryHeader.Parse(header), maxValue);
            if (begun.IsMalformed) return begun;
            _open = begun;
            _body.Begin((int)begun.Header.BodyLength, isKept: begun.Status == BinaryStatus.Ok);
        }

        if (!_body.TryFill(ref buffer)) return null;
        var command = _open;
        _open = null;
        return command.Status == BinaryStatus.Ok ? BinaryParser.Complete(command, _body.Take()) : command;
    }
}
