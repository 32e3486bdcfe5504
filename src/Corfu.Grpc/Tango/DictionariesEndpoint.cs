using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.Dictionaries</c>, without the watch.</summary>
internal sealed partial class DictionariesEndpoint(
    OpenObjects objects, TransactionRunner transactions, WatchLimit watches, HostStop host,
    IOptions<CorfuGrpcOptions> options)
    : V1.Dictionaries.DictionariesBase
{
    private static readonly TransactionOptions s_fresh = new() { StartFresh = true, StaleSnapshot = true };

    public override async Task<V1.GetResponse> Get(V1.GetRequest request, ServerCallContext context)
    {
        var (found, end) = await ReadAsync(
            request.Object, dictionary => dictionary.TryGetAsync(request.Key, context.CancellationToken).AsTask(),
            context.CancellationToken);
        var response = new V1.GetResponse { Version = Versions.Below(end) };
        if (found.TryGet(out var value)) response.Value = Bytes.Of(value);
        return response;
    }

    public override async Task<V1.GetManyResponse> GetMany(V1.GetManyRequest request, ServerCallContext context)
    {
        if (request.Keys.Count == 0 || request.Keys.Count > options.Value.Tango.MaxOperations)
            throw new RequestException($"keys: between 1 and {options.Value.Tango.MaxOperations}.");
        var (lookups, end) = await ReadAsync(request.Object, ReadAllAsync, context.CancellationToken);
        return new V1.GetManyResponse
        {
            Lookups = { lookups },
            Version = Versions.Below(end),
            NextPosition = (ulong)end.Offset,
        };

        async Task<List<V1.Lookup>> ReadAllAsync(TangoDictionary<string, byte[]> dictionary)
        {
            var all = new List<V1.Lookup>(request.Keys.Count);
            foreach (var key in request.Keys)
            {
                var lookup = new V1.Lookup { Key = key };
                var found = await dictionary.TryGetAsync(key, context.CancellationToken);
                if (found.TryGet(out var value)) lookup.Value = Bytes.Of(value);
                all.Add(lookup);
            }

            return all;
        }
    }

    public override async Task<V1.SetResponse> Set(V1.SetRequest request, ServerCallContext context)
    {
        var done = await transactions.WriteAsync(
            new V1.TransactRequest { OnSuccess = { SetOf(request.Object, request.Key, request.Value) } },
            context.CancellationToken);
        return new V1.SetResponse { Version = done.Version };
    }

    public override async Task<V1.SetIfResponse> SetIf(V1.SetIfRequest request, ServerCallContext context)
    {
        var done = await transactions.WriteAsync(
            new V1.TransactRequest
            {
                Compare =
                {
                    new V1.Compare
                    {
                        Object = request.Object,
                        Key = new V1.KeyCompare { Key = request.Key, Condition = request.Condition },
                    },
                },
                OnSuccess = { SetOf(request.Object, request.Key, request.Value) },
                OnFailure =
                {
                    new V1.Operation { Object = request.Object, Get = new V1.GetOperation { Key = request.Key } },
                },
            },
            context.CancellationToken);
        var response = new V1.SetIfResponse { Succeeded = done.Succeeded, Version = done.Version };
        if (!done.Succeeded && done.Results[0].HasValue) response.Value = done.Results[0].Value;
        return response;
    }

    public override async Task<V1.RemoveResponse> Remove(V1.RemoveRequest request, ServerCallContext context)
    {
        var done = await transactions.WriteAsync(
            new V1.TransactRequest
            {
                OnSuccess =
                {
                    new V1.Operation
                    {
                        Object = request.Object,
                        Remove = new V1.RemoveOperation { Key = request.Key },
                    },
                },
            },
            context.CancellationToken);
        return new V1.RemoveResponse { Removed = done.Results[0].Removed };
    }

    public override async Task List(
        V1.ListRequest request, IServerStreamWriter<V1.ListResponse> responseStream, ServerCallContext context)
    {
        var (all, end) = await ReadAsync(
            request.Object, dictionary => dictionary.SnapshotAsync(context.CancellationToken).AsTask(),
            context.CancellationToken);
        var matching = all
            .Where(item => item.Key.StartsWith(request.Prefix, StringComparison.Ordinal)
                && string.CompareOrdinal(item.Key, request.AfterKey) > 0)
            .OrderBy(static item => item.Key, StringComparer.Ordinal)
            .Select(item => EntryOf(item.Key, request.KeysOnly ? null : item.Value));
        // An empty key comes first, and is behind no key.
        if (request.AfterKey.Length == 0 && request.Prefix.Length == 0 && all.TryGetValue("", out var first))
            matching = matching.Prepend(EntryOf("", request.KeysOnly ? null : first));
        if (request.Limit > 0) matching = matching.Take((int)Math.Min(request.Limit, int.MaxValue));
        var batches = new EntryBatches(matching, options.Value);
        do
        {
            await responseStream.WriteAsync(
                new V1.ListResponse
                {
                    Entries = { batches.Take() },
                    NextPosition = (ulong)end.Offset,
                    Version = Versions.Below(end),
                },
                context.CancellationToken);
        }
        while (batches.HasMore);
    }

    public override async Task<V1.CountResponse> Count(V1.CountRequest request, ServerCallContext context)
    {
        var count = await objects.UseAsync<TangoDictionary<string, byte[]>, int>(
            request.Object, dictionary => dictionary.CountAsync(context.CancellationToken).AsTask(),
            context.CancellationToken);
        return new V1.CountResponse { Count = (ulong)count };
    }

    private static V1.Operation SetOf(string name, string key, Google.Protobuf.ByteString value) => new()
    {
        Object = name,
        Set = new V1.SetOperation { Key = key, Value = value },
    };

    private static V1.Entry EntryOf(string key, byte[]? value)
    {
        var entry = new V1.Entry { Key = key };
        if (value is not null) entry.Value = Bytes.Of(value);
        return entry;
    }

    /// <summary>Reads at one position that has everything acknowledged before, and tells it. It never conflicts: the
    /// snapshot is of after the call's beginning.</summary>
    private async Task<(T Value, LogPosition End)> ReadAsync<T>(
        string name, Func<TangoDictionary<string, byte[]>, Task<T>> read, CancellationToken cancellationToken)
    {
        var runtime = await objects.RuntimeAsync(cancellationToken);
        return await objects.UseAsync<TangoDictionary<string, byte[]>, (T, LogPosition)>(
            name, ReadOnceAsync, cancellationToken);

        async Task<(T, LogPosition)> ReadOnceAsync(TangoDictionary<string, byte[]> dictionary)
        {
            await using var transaction = runtime.BeginTx(s_fresh);
            var value = await read(dictionary);
            var end = transaction.SnapshotEnd!.Value;
            (await transaction.EndTxAsync(cancellationToken)).ThrowIfNotCommitted();
            return (value, end);
        }
    }
}
