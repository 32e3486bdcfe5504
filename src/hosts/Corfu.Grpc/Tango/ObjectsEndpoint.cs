using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.ObjectService</c>.</summary>
internal sealed class ObjectsEndpoint(
    OpenObjects objects, CallerAccess access, CallerLimits limits, OpenLists<DirectoryEntry> lists,
    IOptions<CorfuGrpcOptions> options)
    : V1.ObjectService.ObjectServiceBase
{
    public override async Task<V1.CreateResponse> Create(V1.CreateRequest request, ServerCallContext context)
    {
        var (name, call) = (request.Object, context.CancellationToken);
        TangoObject _ = request.Type switch
        {
            V1.ObjectType.Dictionary => await objects.CreateAsync<TangoDictionary<string, byte[]>>(name, call),
            V1.ObjectType.WorkQueue => await objects.CreateAsync<TangoWorkQueue<byte[]>>(name, call),
            V1.ObjectType.Lock => await objects.CreateAsync<TangoLock>(name, call),
            V1.ObjectType.LeasedDictionary => await objects.CreateAsync<TangoLeasedDictionary<string, byte[]>>(
                name, call),
            _ => throw new RequestException("type: not one that this service creates."),
        };
        return new V1.CreateResponse();
    }

    public override async Task<V1.ListObjectsResponse> List(
        V1.ListObjectsRequest request, ServerCallContext context)
    {
        // Another caller's list has other objects.
        var scope = $"objects {Callers.OwnerOf(context)}";
        var page = request.PageToken.Length > 0
            ? lists.GoOn(scope, request.PageToken)
            : await limits.Listings.RunAsync(Callers.NameOf(context), BeginAsync, context.CancellationToken);
        var response = new V1.ListObjectsResponse();
        foreach (var entry in page.Take(options.Value, request.PageSize, EntryOf))
        {
            // A right may have been taken away since the first page.
            if (await MayReadAsync(entry.Name)) response.Objects.Add(entry);
        }

        response.NextPageToken = lists.TokenOf(page);
        return response;

        async Task<ListPage<DirectoryEntry>> BeginAsync()
        {
            var runtime = await objects.RuntimeAsync(context.CancellationToken);
            var all = await runtime.Directory.ListAsync(context.CancellationToken);
            var readable = new List<KeyValuePair<string, DirectoryEntry>>();
            foreach (var entry in all)
            {
                if (await MayReadAsync(entry.Name)) readable.Add(KeyValuePair.Create(entry.Name, entry));
            }

            return new(scope, Callers.NameOf(context), default, readable);
        }

        ValueTask<bool> MayReadAsync(string name) =>
            access.MayAsync(context, MethodAccess.OfObject(CorfuPolicies.Read, name));
    }

    private static V1.ObjectEntry EntryOf(KeyValuePair<string, DirectoryEntry> item) => new()
    {
        Name = item.Key,
        TypeName = item.Value.TypeName,
        Group = item.Value.Group ?? "",
    };
}
