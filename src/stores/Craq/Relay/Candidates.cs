namespace Craq.Relay;

/// <summary>Relayed values of a chain that came before their records: in memory alone, so that none survives a
/// restart, nor an epoch. Under the node's lock.</summary>
internal sealed class Candidates(CandidatePool pool)
{
    // All are of the epoch's head, and above the newest record here.
    private Dictionary<ObjectVersion, LinkedListNode<Candidate>>? _held;

    public int Count => _held?.Count ?? 0;

    /// <summary>Keeps a record for its version, in place of the one that was there.</summary>
    public void Put(ObjectVersion version, byte[] record)
    {
        Remove(version);
        if (pool.Add(new Candidate(this, version, record)) is { } node) (_held ??= []).Add(version, node);
    }

    /// <summary>The whole record that these heads begin; null: there is none. The heads say version, origins, lengths
    /// and checks, and all of them must agree: a head that restarts may give a relayed version to another write
    /// (C16).</summary>
    public byte[]? Find(ReadOnlySpan<byte> heads)
    {
        if (_held is null || !_held.TryGetValue(RecordCodec.VersionOf(heads), out var node)) return null;
        var record = node.Value.Bytes;
        return record.AsSpan().StartsWith(heads) || Planted.Is("candidate-by-version") ? record : null;
    }

    public void Remove(ObjectVersion version)
    {
        if (_held is not null && _held.Remove(version, out var node)) pool.Remove(node);
    }

    public void Clear()
    {
        foreach (var node in _held?.Values ?? Enumerable.Empty<LinkedListNode<Candidate>>()) pool.Remove(node);
        _held = null;
    }
}
