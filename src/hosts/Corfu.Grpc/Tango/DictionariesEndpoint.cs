using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango.Collections;
using Strings = Tango.Collections.TangoDictionary<string, byte[]>;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.DictionaryService</c>, without the watch.</summary>
internal sealed partial class DictionariesEndpoint(
    OpenObjects objects, TransactionRunner transactions, CallerAccess access, CallerLimits limits,
    OpenLists<byte[]> lists, HostStop host, IOptions<CorfuGrpcOptions> options)
    : V1.DictionaryService.DictionaryServiceBase
{
    public override async Task<V1.GetResponse> Get(V1.GetRequest request, ServerCallContext context)
    {
        var (found, end) = await objects.ReadAsync<Strings, Lookup<byte[]>>(
            request.Object, dictionary => dictionary.TryGetAsync(request.Key, context.CancellationToken),
            context.CancellationToken);
        var response = new V1.GetResponse { Version = Versions.Below(end) };
        if (found.TryGet(out var value)) response.Value = Bytes.Of(value);
        return response;
    }

    public override async Task<V1.GetManyResponse> GetMany(V1.GetManyRequest request, ServerCallContext context)
    {
        if (request.Keys.Count == 0 || request.Keys.Count > options.Value.Tango.MaxOperations)
            throw new RequestException($"keys: between 1 and {options.Value.Tango.MaxOperations}.");
        var (lookups, end) = await objects.ReadAsync<Strings, List<V1.Lookup>>(
            request.Object, ReadAllAsync, context.CancellationToken);
        return new V1.GetManyResponse
        {
            Lookups = { lookups },
            Version = Versions.Below(end),
            NextPosition = Positions.Of(end),
        };

        async ValueTask<List<V1.Lookup>> ReadAllAsync(Strings dictionary)
        {
            var all = new List<V1.Lookup>(request.Keys.Count);
            var budget = new AnswerBudget(options.Value);
            foreach (var key in request.Keys)
            {
                var lookup = new V1.Lookup { Key = key };
                var found = await dictionary.TryGetAsync(key, context.CancellationToken);
                if (found.TryGet(out var value)) lookup.Value = Bytes.Of(value);
                budget.Take(lookup.CalculateSize());
                all.Add(lookup);
            }

            return all;
        }
    }

    public override async Task<V1.SetResponse> Set(V1.SetRequest request, ServerCallContext context)
    {
        var done = await transactions.WriteAsync(
            new V1.TransactRequest
            {
                OnSuccess = { SetOf(request.Object, request.Key, request.Value) },
                RequestId = request.RequestId,
            },
            context);
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
                RequestId = request.RequestId,
            },
            context);
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
                RequestId = request.RequestId,
            },
            context);
        return new V1.RemoveResponse { Removed = done.Results[0].Removed };
    }

    public override async Task<V1.ListResponse> List(V1.ListRequest request, ServerCallContext context)
    {
        OpenObjects.RequireName(request.Object);
        // The length separates the name from the prefix: no character could.
        var scope = $"{request.Object.Length}:{request.Object}{request.Prefix}";
        var page = request.PageToken.Length > 0
            ? lists.GoOn(scope, request.PageToken)
            : await limits.Listings.RunAsync(Callers.NameOf(context), BeginAsync, context.CancellationToken);
        var response = new V1.ListResponse
        {
            NextPosition = Positions.Of(page.List.End),
            Version = Versions.Below(page.List.End),
        };
        response.Entries.Add(page.Take(
            options.Value, request.PageSize, item => EntryOf(item.Key, request.KeysOnly ? null : item.Value)));
        response.NextPageToken = lists.TokenOf(page);
        return response;

        async Task<ListPage<byte[]>> BeginAsync()
        {
            var (all, end) = await objects.ReadAsync<Strings, IReadOnlyDictionary<string, byte[]>>(
                request.Object, async dictionary => await dictionary.SnapshotAsync(context.CancellationToken),
                context.CancellationToken);
            return new(scope, Callers.NameOf(context), end, all.Where(
                item => item.Key.StartsWith(request.Prefix, StringComparison.Ordinal)));
        }
    }

    public override async Task<V1.CountResponse> Count(V1.CountRequest request, ServerCallContext context)
    {
        var (count, _) = await objects.ReadAsync<Strings, int>(
            request.Object, dictionary => dictionary.CountAsync(context.CancellationToken),
            context.CancellationToken);
        return new V1.CountResponse { Count = count };
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
}
