using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango;
using Tango.Collections;
using Leased = Tango.Collections.TangoLeasedDictionary<string, byte[]>;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.LeasedDictionaryService</c>.</summary>
internal sealed class LeasedDictionariesEndpoint(
    OpenObjects objects, Sessions sessions, CallerLimits limits, OpenLists<byte[]> lists,
    IOptions<CorfuGrpcOptions> options)
    : V1.LeasedDictionaryService.LeasedDictionaryServiceBase
{
    public override async Task<V1.GetLeasedResponse> Get(V1.GetLeasedRequest request, ServerCallContext context)
    {
        var (found, _) = await objects.ReadAsync<Leased, Lookup<byte[]>>(
            request.Object, entries => entries.TryGetAsync(request.Key, context.CancellationToken),
            context.CancellationToken);
        var response = new V1.GetLeasedResponse();
        if (found.TryGet(out var value)) response.Value = Bytes.Of(value);
        return response;
    }

    public override Task<V1.SetLeasedResponse> Set(V1.SetLeasedRequest request, ServerCallContext context)
    {
        return objects.UseAsync<Leased, V1.SetLeasedResponse>(request.Object, SetAsync, context.CancellationToken);

        async Task<V1.SetLeasedResponse> SetAsync(Leased entries)
        {
            var (call, value) = (context.CancellationToken, request.Value.ToByteArray());
            switch (request.EndsCase)
            {
                case V1.SetLeasedRequest.EndsOneofCase.Session:
                    var session = sessions.Get(request.Session, Callers.OwnerOf(context));
                    var lease = await session.LeaseAsync(entries, call);
                    await entries.SetAsync(request.Key, value, lease, call);
                    return new V1.SetLeasedResponse { Lease = lease };
                case V1.SetLeasedRequest.EndsOneofCase.TimeToLive:
                    await entries.SetAsync(
                        request.Key, value, Durations.EntryTimeToLive(request.TimeToLive)!.Value, call);
                    return new V1.SetLeasedResponse();
                default:
                    throw new RequestException("An entry ends with a session or has a time_to_live.");
            }
        }
    }

    public override async Task<V1.RemoveLeasedResponse> Remove(
        V1.RemoveLeasedRequest request, ServerCallContext context)
    {
        var removed = await objects.UseAsync<Leased, bool>(
            request.Object, entries => entries.RemoveAsync(request.Key, context.CancellationToken).AsTask(),
            context.CancellationToken);
        return new V1.RemoveLeasedResponse { Removed = removed };
    }

    public override async Task<V1.ListLeasedResponse> List(V1.ListLeasedRequest request, ServerCallContext context)
    {
        OpenObjects.RequireName(request.Object);
        var scope = $"leased {request.Object.Length}:{request.Object}{request.Prefix}";
        var page = request.PageToken.Length > 0
            ? lists.GoOn(scope, request.PageToken)
            : await limits.Listings.RunAsync(Callers.NameOf(context), BeginAsync, context.CancellationToken);
        var response = new V1.ListLeasedResponse();
        response.Entries.Add(page.Take(
            options.Value, request.PageSize,
            static item => new V1.Entry { Key = item.Key, Value = Bytes.Of(item.Value) }));
        response.NextPageToken = lists.TokenOf(page);
        return response;

        async Task<ListPage<byte[]>> BeginAsync()
        {
            var (all, end) = await objects.ReadAsync<Leased, IReadOnlyDictionary<string, byte[]>>(
                request.Object, async entries => await entries.SnapshotAsync(context.CancellationToken),
                context.CancellationToken);
            return new(scope, Callers.NameOf(context), end, all.Where(
                item => item.Key.StartsWith(request.Prefix, StringComparison.Ordinal)));
        }
    }
}
