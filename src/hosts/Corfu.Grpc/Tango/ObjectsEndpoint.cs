using Grpc.Core;
using Microsoft.Extensions.Options;
using Tango;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.ObjectService</c>.</summary>
internal sealed class ObjectsEndpoint(
    OpenObjects objects, OpenLists<DirectoryEntry> lists, IOptions<CorfuGrpcOptions> options)
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
        const string Scope = "objects";
        var page = request.PageToken.Length > 0 ? lists.GoOn(Scope, request.PageToken) : await BeginAsync();
        var response = new V1.ListObjectsResponse();
        response.Objects.Add(page.Take(options.Value, request.PageSize, static item => new V1.ObjectEntry
        {
            Name = item.Key,
            TypeName = item.Value.TypeName,
            Group = item.Value.Group ?? "",
        }));
        response.NextPageToken = lists.TokenOf(page);
        return response;

        async Task<ListPage<DirectoryEntry>> BeginAsync()
        {
            var runtime = await objects.RuntimeAsync(context.CancellationToken);
            var all = await runtime.Directory.ListAsync(context.CancellationToken);
            return new(Scope, default, all.Select(static entry => KeyValuePair.Create(entry.Name, entry)));
        }
    }
}
