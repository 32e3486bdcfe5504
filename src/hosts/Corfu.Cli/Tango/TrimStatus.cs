using Tango;

namespace Corfu.Cli;

/// <summary>The claims that keep the log from being trimmed, for <c>corfu status</c>: read through a runtime of its
/// own.</summary>
internal sealed class TrimStatus(CorfuClient client) : IAsyncDisposable
{
    // Status must not wait for ever for a directory that cannot be played.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private const int MostPins = 3;

    // A claim may lie at a hole.
    private const int MostLooked = 16;

    private readonly TangoRuntime _runtime = new(client);

    /// <returns>Null if the log has neither objects nor claims.</returns>
    public async Task<TrimJson?> TakeAsync(long mark, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(Patience);
        try
        {
            var point = await _runtime.Log.ReadTrimPointAsync(limit.Token);
            if (point.Claims.IsEmpty) return null;
            var tail = (await client.CheckAsync([], ReadConsistency.Session, limit.Token)).Tail.Offset;
            var lowest = point.Claims[0].Position;
            var pins = point.Claims.Where(claim => claim.Position == lowest).ToList();
            var streams = await StreamCommand.ReadAsync(client, _runtime, limit.Token);
            return new TrimJson(
                point.Released.Offset, lowest.Offset, tail - mark, await SinceAsync(lowest, limit.Token),
                [.. pins.Take(MostPins).Select(PinJson.Of)], pins.Count,
                [.. streams.Where(stream => !stream.Declared).Select(stream => stream.Id)], null);
        }
        catch (Exception e)
            when (e is CorfuException or TangoException || !cancellationToken.IsCancellationRequested)
        {
            var why = e is OperationCanceledException ? "the directory did not answer in time" : e.Message;
            return new TrimJson(null, null, null, null, [], 0, [], why);
        }
    }

    public ValueTask DisposeAsync() => _runtime.DisposeAsync();

    // By the clock of the entry's writer.
    private async Task<DateTimeOffset?> SinceAsync(LogPosition position, CancellationToken cancellationToken)
    {
        ImmutableArray<LogPosition> looked = [.. Enumerable.Range(0, MostLooked).Select(i => position + i)];
        var results = await client.ReadManyAsync(looked, ReadDetail.Headers, ReadMode.Observe, cancellationToken);
        return results.Where(result => result.IsData).Select(result => result.Entry?.WriterTime).FirstOrDefault();
    }
}

/// <summary>The claims that keep the log from being trimmed.</summary>
/// <param name="Released">Everything below may be trimmed.</param>
/// <param name="Pinned">The lowest claim.</param>
/// <param name="HeldPositions">From the trim mark to the tail.</param>
/// <param name="PinnedSince">When the entry at the lowest claim was written.</param>
/// <param name="Pins">Some of the holders of the lowest claim.</param>
/// <param name="PinCount">How many there are.</param>
/// <param name="Undeclared">Raw streams that are not declared as needed or not.</param>
/// <param name="Problem">Why the rest is not known.</param>
internal sealed record TrimJson(
    long? Released, long? Pinned, long? HeldPositions, DateTimeOffset? PinnedSince, IReadOnlyList<PinJson> Pins,
    int PinCount, IReadOnlyList<ulong> Undeclared, string? Problem);

/// <param name="Kind">object, directory, deletedobject, reader or stream.</param>
/// <param name="HoldsValues">An object whose values in the log are what it needs.</param>
/// <param name="Group">The group of which it is the first member.</param>
internal sealed record PinJson(string Kind, string Name, long? Checkpoint, bool HoldsValues, string? Group)
{
    public static PinJson Of(TangoClaim claim) => new(
        claim.Kind.ToString().ToLowerInvariant(), claim.Name, claim.Checkpoint?.Offset, claim.IsHeldByValues,
        claim.Group);
}
