using System.Buffers;
using Salus.Nbd.Wire;
using Salus.Nbd.Writes;

namespace Salus.Nbd.Transmission;

/// <summary>A command from its first byte to its reply. Objects serve one command after the other.</summary>
internal sealed class NbdRequest
{
    private byte[]? _buffer;

    public RequestHeader Header { get; private set; }

    /// <summary>The blocks that the command touches, if it has a range.</summary>
    public BlockRange Range { get; private set; }

    /// <summary>The command's part of the budgets.</summary>
    public long Cost { get; set; }

    /// <summary>Memory of the command's blocks.</summary>
    public Memory<byte> Blocks { get; private set; }

    public BlockExtents Extents { get; } = new();

    public PlacedWrite Write { get; } = new();

    public NbdError Error { get; set; }

    /// <summary>Why, for people.</summary>
    public string? Reason { get; set; }

    /// <summary>The first byte that could not be read, where that is known.</summary>
    public ulong? ErrorOffset { get; set; }

    /// <summary>For the telemetry, when the command was there whole.</summary>
    public long Began { get; set; }

    public bool IsForced => Header.Flags.HasFlag(CommandFlags.Fua);

    public void Begin(in RequestHeader header)
    {
        Header = header;
        (Range, Cost, Error, Reason, ErrorOffset) = (default, 0, NbdError.None, null, null);
        Extents.Clear();
    }

    /// <summary>For a command whose range lies inside the export.</summary>
    public void SetRange(int blockSize) =>
        Range = BlockRange.Around((long)Header.Offset, Header.Length, blockSize);

    /// <summary>Takes memory from the pool; what it holds is another command's.</summary>
    public void Rent(int bytes)
    {
        _buffer = ArrayPool<byte>.Shared.Rent(bytes);
        Blocks = _buffer.AsMemory(0, bytes);
    }

    /// <summary>Nothing uses the memory any more.</summary>
    public void Release()
    {
        if (_buffer is not null) ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = null;
        Blocks = default;
    }

    public void Fail(NbdError error, string reason) => (Error, Reason) = (error, reason);
}
