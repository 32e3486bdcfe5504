namespace Salus.Store.Files;

/// <summary>Checks a checkpoint file while it comes from elsewhere, so that a damaged one never gets its
/// name.</summary>
/// <param name="length">Bytes of the file.</param>
public sealed class CheckpointCheck(long length)
{
    // The end, and the hashes before it, are shorter than a part: they are in the last two.
    private readonly List<byte[]> _tail = [];
    private readonly List<Hash128> _hashes = [];

    /// <summary>Bytes of the next part; 0: all are there.</summary>
    public int Next => (int)Math.Min(CheckpointFormat.PieceSize, length - Offset);

    /// <summary>The offset at which the next part begins.</summary>
    public long Offset { get; private set; }

    /// <param name="part">As many bytes as <see cref="Next"/> says.</param>
    public void Add(ReadOnlySpan<byte> part)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(part.Length, Next);
        _hashes.Add(Hash128.Of(part));
        if (_tail.Count == 2) _tail.RemoveAt(0);
        _tail.Add(part.ToArray());
        Offset += part.Length;
    }

    /// <summary>Whether all parts are those of the file with that digest.</summary>
    public bool IsWhole(Hash128 digest)
    {
        if (Offset != length) return false;
        byte[] tail = [.. _tail.SelectMany(static part => part)];
        var from = length - tail.Length;
        try
        {
            var (end, found) = CheckpointFormat.DecodeEnd(tail.AsSpan()[^Math.Min(tail.Length,
                CheckpointFormat.EndSize)..], length);
            var hashed = end.StateOffset + end.StateLength;
            var hashes = tail.AsSpan((int)(hashed - from), end.Pieces * Hash128.Size);
            if (found != digest || Hash128.Of(hashes) != end.PiecesHash) return false;
            for (var piece = 0; piece < end.Pieces - 1; piece++)
            {
                if (_hashes[piece] != Hash128.Read(hashes[(piece * Hash128.Size)..])) return false;
            }

            // The last piece ends where the hashes begin.
            var last = (long)(end.Pieces - 1) * CheckpointFormat.PieceSize;
            return Hash128.Of(tail.AsSpan((int)(last - from), (int)(hashed - last)))
                == Hash128.Read(hashes[^Hash128.Size..]);
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }
}
