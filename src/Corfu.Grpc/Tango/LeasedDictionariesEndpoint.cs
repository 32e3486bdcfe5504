using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango.Collections;
using Entries = System.Collections.Immutable.ImmutableDictionary<string, byte[]>;
using Leased = Tango.Collections.TangoLeasedDictionary<string, byte[]>;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.LeasedDictionaries</c>.</summary>
internal sealed class LeasedDictionariesEndpoint(
    OpenObjects objects, Sessions sessions, IOptions<CorfuGrpcOptions> options)
    : V1.LeasedDictionaries.LeasedDictionariesBase
{
    public override async Task<V1.GetLeasedResponse> Get(V1.GetLeasedRequest request, ServerCallContext context)
    {
        var found = await objects.UseAsync<Leased, Lookup<byte[]>>(
            request.Object, entries => entries.TryGetAsync(request.Key, context.CancellationToken).AsTask(),
            context.CancellationToken);
        var response = new V1.GetLeasedResponse();
        if (found.TryGet(out var value)) response.Value = Bytes.Of(value);
        return response;
    }

    public override async Task<V1.SetLeasedResponse> Set(V1.SetLeasedRequest request, ServerCallContext context)
    {
        await objects.UseAsync<Leased, bool>(request.Object, SetAsync, context.CancellationToken);
        return new V1.SetLeasedResponse();

        async Task<bool> SetAsync(Leased entries)
        {
            var (call, value) = (context.CancellationToken, request.Value.ToByteArray());
            switch (request.EndsCase)
            {
                case V1.SetLeasedRequest.EndsOneofCase.Session:
                    var session = sessions.Get(request.Session);
                    var lease = await session.LeaseAsync(
                        request.Object, () => entries.GrantAsync(session.TimeToLive, call), call);
                    await entries.SetAsync(request.Key, value, lease, call);
                    return true;
                case V1.SetLeasedRequest.EndsOneofCase.TimeToLive:
                    await entries.SetAsync(
                        request.Key, value, Durations.EntryTimeToLive(request.TimeToLive)!.Value, call);
                    return true;
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

    public override async Task List(
        V1.ListLeasedRequest request, IServerStreamWriter<V1.ListLeasedResponse> responseStream,
        ServerCallContext context)
    {
        var all = await objects.UseAsync<Leased, Entries>(
            request.Object, entries => entries.SnapshotAsync(context.CancellationToken).AsTask(),
            context.CancellationToken);
        var batches = new EntryBatches(
            all.Where(item => item.Key.StartsWith(request.Prefix, StringComparison.Ordinal))
                .OrderBy(static item => item.Key, StringComparer.Ordinal)
                .Select(static item => new V1.Entry { Key = item.Key, Value = Bytes.Of(item.Value) }),
            options.Value);
        do
        {
            await responseStream.WriteAsync(
                new V1.ListLeasedResponse { Entries = { batches.Take() } }, context.CancellationToken);
        }
        while (batches.HasMore);
    }
}
