using Grpc.Core;
using Tango;
using Strings = Tango.Collections.TangoDictionary<string, byte[]>;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.DictionaryService/Watch</c>.</summary>
internal sealed partial class DictionariesEndpoint
{
    // Numbers of TangoDictionary's mutators in the log. The other mutators write under a condition of their own.
    private const int SetCall = 1;
    private const int RemoveCall = 4;
    private const int TakeCall = 5;
    private const int ClearCall = 7;

    public override async Task Watch(
        V1.WatchRequest request, IServerStreamWriter<V1.WatchResponse> responseStream, ServerCallContext context)
    {
        OpenObjects.RequireName(request.Object);
        using var place = limits.Watches.Take(Callers.NameOf(context));
        var standing = access.Standing(context, MethodAccess.Of(context.Method).Demands(request));
        var batch = new WatchBatch(responseStream, options.Value, standing);
        await host.RunAsync(context, stop => WatchAsync(request, batch, stop));
    }

    private async Task WatchAsync(V1.WatchRequest request, WatchBatch batch, CancellationToken stop)
    {
        var runtime = await objects.RuntimeAsync(stop);
        var feed = new FeedOptions { Keys = KeysOf(request) };
        var after = await StartOf(request, stop);
        await batch.AddAsync(new V1.WatchEvent { Place = PlaceOf(after), Started = new V1.Started() }, stop);
        await using var changes =
            runtime.History.ChangesAsync<Strings>(request.Object, after, feed, stop).GetAsyncEnumerator(stop);
        while (true)
        {
            var next = changes.MoveNextAsync();
            // Changes that are ready go out together. A batch goes out before a wait, and before an error.
            if (!next.IsCompletedSuccessfully) await batch.FlushAsync(stop);
            if (!await next) return;
            var change = changes.Current;
            if (change.Kind != TangoChangeKind.Reset)
            {
                await batch.AddAsync(EventOf(change), stop);
                continue;
            }

            if (request.ResetIfTrimmed)
            {
                await AddResetAsync(request, change, batch, stop);
                continue;
            }

            await batch.FlushAsync(stop);
            throw new WatchTrimmedException(change.Place);
        }
    }

    private ChangeKeys? KeysOf(V1.WatchRequest request)
    {
        switch (request.WhichCase)
        {
            case V1.WatchRequest.WhichOneofCase.Prefix:
                return ChangeKeys.Prefix(request.Prefix);
            case V1.WatchRequest.WhichOneofCase.Keys:
                var keys = request.Keys.Keys_;
                return keys.Count is > 0 && keys.Count <= options.Value.Tango.MaxOperations
                    ? ChangeKeys.Of<string>([.. keys])
                    : throw new RequestException($"keys: between 1 and {options.Value.Tango.MaxOperations}.");
            default:
                return null;
        }
    }

    /// <summary>Finds the place where the watch begins. The caller gets it before the first change, so that a caller
    /// that loses the watch at once misses no change.</summary>
    private async ValueTask<ChangePlace> StartOf(V1.WatchRequest request, CancellationToken cancellationToken)
    {
        switch (request.StartCase)
        {
            case V1.WatchRequest.StartOneofCase.After:
                return request.After.Index < -1
                    ? throw new RequestException("after: not a place of this service.")
                    : new ChangePlace(Positions.Of(request.After.Position, "after"), request.After.Index);
            case V1.WatchRequest.StartOneofCase.FromPosition:
                return ChangePlace.Before(Positions.Of(request.FromPosition, "from_position"));
            default:
                var (_, end) = await objects.ReadAsync<Strings, bool>(
                    request.Object, dictionary => dictionary.ContainsKeyAsync("", cancellationToken),
                    cancellationToken);
                return ChangePlace.Before(end);
        }
    }

    private async Task AddResetAsync(
        V1.WatchRequest request, TangoChange<Strings> change, WatchBatch batch, CancellationToken cancellationToken)
    {
        var all = await change.State!.SnapshotAsync(cancellationToken);
        var wanted = request.WhichCase == V1.WatchRequest.WhichOneofCase.Keys
            ? request.Keys.Keys_.ToHashSet(StringComparer.Ordinal)
            : null;
        var batches = new EntryBatches(
            all.Where(item => wanted?.Contains(item.Key)
                    ?? item.Key.StartsWith(request.Prefix, StringComparison.Ordinal))
                .OrderBy(static item => item.Key, CodePointOrder.Instance)
                .Select(static item => EntryOf(item.Key, item.Value)),
            options.Value);
        do
        {
            var reset = new V1.Reset { Entries = { batches.Take() } };
            reset.More = batches.HasMore;
            var told = new V1.WatchEvent { Reset = reset };
            // A caller that loses the watch between two of them starts from the place before the first.
            if (!reset.More) told.Place = PlaceOf(change.Place);
            await batch.AddAsync(told, cancellationToken);
        }
        while (batches.HasMore);
    }

    private static V1.WatchEvent EventOf(TangoChange<Strings> change)
    {
        var told = new V1.WatchEvent { Place = PlaceOf(change.Place) };
        if (change.Transaction is { } transaction) told.Transaction = Versions.Of(transaction);
        if (change.Kind == TangoChangeKind.Progress)
        {
            told.Progress = new V1.Progress();
            return told;
        }

        switch (change.Mutator!.Number)
        {
            case SetCall:
                told.Set = EntryOf(change.ReadKey<string>(), change.ReadArgument<byte[]>());
                break;
            case RemoveCall or TakeCall:
                told.Removed = change.ReadKey<string>();
                break;
            case ClearCall:
                told.Cleared = new V1.Cleared();
                break;
            default:
                told.Touched = change.ReadKey<string>();
                break;
        }

        return told;
    }

    private static V1.Place PlaceOf(ChangePlace place) =>
        new() { Position = Positions.Of(place.Position), Index = place.Index };
}
