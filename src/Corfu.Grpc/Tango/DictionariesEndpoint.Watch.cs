using Grpc.Core;
using Tango;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.Dictionaries/Watch</c>.</summary>
internal sealed partial class DictionariesEndpoint
{
    // As the log has the mutators of TangoDictionary. Others write under a condition of their own.
    private const int SetCall = 1;
    private const int RemoveCall = 4;
    private const int TakeCall = 5;
    private const int ClearCall = 7;

    public override async Task Watch(
        V1.WatchRequest request, IServerStreamWriter<V1.WatchEvent> responseStream, ServerCallContext context)
    {
        OpenObjects.RequireName(request.Object);
        watches.Enter();
        try
        {
            await host.RunAsync(context, stop => WatchAsync(request, responseStream, stop));
        }
        finally
        {
            watches.Leave();
        }
    }

    private async Task WatchAsync(
        V1.WatchRequest request, IServerStreamWriter<V1.WatchEvent> responseStream, CancellationToken stop)
    {
        var runtime = await objects.RuntimeAsync(stop);
        var feed = new FeedOptions { Keys = KeysOf(request) };
        var after = await StartOf(request, stop);
        await responseStream.WriteAsync(
            new V1.WatchEvent { Place = PlaceOf(after), Started = new V1.Started() }, stop);
        await foreach (var change in runtime.ChangesAsync<TangoDictionary<string, byte[]>>(
            request.Object, after, feed, stop))
        {
            if (change.Kind != TangoChangeKind.Reset)
            {
                await responseStream.WriteAsync(EventOf(change), stop);
                continue;
            }

            if (!request.ResetIfTrimmed) throw new WatchTrimmedException(change.Place);
            await TellResetAsync(request, change, responseStream, stop);
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

    /// <summary>Where the watch begins is told before its first change, so that a caller that loses it at once misses
    /// nothing.</summary>
    private async ValueTask<ChangePlace> StartOf(V1.WatchRequest request, CancellationToken cancellationToken)
    {
        switch (request.StartCase)
        {
            case V1.WatchRequest.StartOneofCase.After:
                return request.After.Position > long.MaxValue || request.After.Index < -1
                    ? throw new RequestException("after: not a place of this service.")
                    : new ChangePlace(new LogPosition((long)request.After.Position), request.After.Index);
            case V1.WatchRequest.StartOneofCase.FromPosition:
                return request.FromPosition > long.MaxValue
                    ? throw new RequestException("from_position: not a position of the log.")
                    : ChangePlace.Before(new LogPosition((long)request.FromPosition));
            default:
                var (_, end) = await ReadAsync(
                    request.Object, dictionary => dictionary.ContainsKeyAsync("", cancellationToken).AsTask(),
                    cancellationToken);
                return ChangePlace.Before(end);
        }
    }

    private async Task TellResetAsync(
        V1.WatchRequest request, TangoChange<TangoDictionary<string, byte[]>> change,
        IServerStreamWriter<V1.WatchEvent> responseStream, CancellationToken cancellationToken)
    {
        var all = await change.State!.SnapshotAsync(cancellationToken);
        var wanted = request.WhichCase == V1.WatchRequest.WhichOneofCase.Keys
            ? request.Keys.Keys_.ToHashSet(StringComparer.Ordinal)
            : null;
        var batches = new EntryBatches(
            all.Where(item => wanted?.Contains(item.Key)
                    ?? item.Key.StartsWith(request.Prefix, StringComparison.Ordinal))
                .OrderBy(static item => item.Key, StringComparer.Ordinal)
                .Select(static item => EntryOf(item.Key, item.Value)),
            options.Value);
        do
        {
            var reset = new V1.Reset { Entries = { batches.Take() } };
            reset.More = batches.HasMore;
            var told = new V1.WatchEvent { Reset = reset };
            // A caller that loses the watch between two of them starts from the place before the first.
            if (!reset.More) told.Place = PlaceOf(change.Place);
            await responseStream.WriteAsync(told, cancellationToken);
        }
        while (batches.HasMore);
    }

    private static V1.WatchEvent EventOf(TangoChange<TangoDictionary<string, byte[]>> change)
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
        new() { Position = (ulong)place.Position.Offset, Index = place.Index };
}
