namespace Corfu.Client;

/// <summary>
/// R9: the origins of this client's entries. The writer id is random per client, the sequence counts its entries.
/// </summary>
internal sealed class EntryOrigins(IEntropy entropy)
{
    private readonly WriterId _writer = new(entropy.NewGuid());
    private long _sequence;

    public EntryOrigin Next() => new(_writer, Interlocked.Increment(ref _sequence));
}
