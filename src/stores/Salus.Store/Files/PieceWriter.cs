namespace Salus.Store.Files;

/// <summary>Writes a file in pieces of a MiB and hashes each.</summary>
internal sealed class PieceWriter(IRegionFileWriter file)
{
    private readonly byte[] _piece = new byte[CheckpointFormat.PieceSize];
    private readonly List<Hash128> _hashes = [];
    private int _used;

    /// <summary>Bytes so far.</summary>
    public long Length { get; private set; }

    public void Write(ReadOnlySpan<byte> bytes)
    {
        Length += bytes.Length;
        while (!bytes.IsEmpty)
        {
            var part = Math.Min(bytes.Length, _piece.Length - _used);
            bytes[..part].CopyTo(_piece.AsSpan(_used));
            bytes = bytes[part..];
            _used += part;
            if (_used == _piece.Length) Flush();
        }
    }

    /// <summary>Writes the hashes of all pieces behind them.</summary>
    /// <returns>How many, and their hash.</returns>
    public (int Count, Hash128 Hash) WriteHashes()
    {
        if (_used > 0) Flush();
        var bytes = new byte[_hashes.Count * Hash128.Size];
        for (var i = 0; i < _hashes.Count; i++) _hashes[i].Write(bytes.AsSpan(i * Hash128.Size));
        file.Write(bytes);
        return (_hashes.Count, Hash128.Of(bytes));
    }

    private void Flush()
    {
        var piece = _piece.AsSpan(0, _used);
        _hashes.Add(Hash128.Of(piece));
        file.Write(piece);
        _used = 0;
    }
}
