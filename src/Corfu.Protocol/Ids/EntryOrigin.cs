namespace Corfu.Protocol;

/// <summary>
/// Who wrote an entry: writer and that writer's own sequence number. R9: "already written" means "my append is in" only
/// when both match; the writer alone proves nothing.
/// </summary>
public readonly record struct EntryOrigin(WriterId Writer, long Sequence)
{
    public override string ToString() => $"{Writer}#{Sequence}";
}

/// <summary>Random per client incarnation, so that a restarted client is never mistaken for its predecessor
/// (R9).</summary>
public readonly record struct WriterId(Guid Value)
{
    public override string ToString() => Value.ToString("N")[..8];
}
