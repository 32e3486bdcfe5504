using Grpc.Core;
using Tango;
using Tango.Collections;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.Objects</c>.</summary>
internal sealed class ObjectsEndpoint(OpenObjects objects) : V1.Objects.ObjectsBase
{
    public override async Task<V1.CreateResponse> Create(V1.CreateRequest request, ServerCallContext context)
    {
        var (name, call) = (request.Object, context.CancellationToken);
        _ = request.Type switch
        {
            V1.ObjectType.Dictionary => await CreateAsync<TangoDictionary<string, byte[]>>(name, call),
            V1.ObjectType.WorkQueue => await CreateAsync<TangoWorkQueue<byte[]>>(name, call),
            V1.ObjectType.Lock => await CreateAsync<TangoLock>(name, call),
            V1.ObjectType.LeasedDictionary => await CreateAsync<TangoLeasedDictionary<string, byte[]>>(name, call),
            _ => throw new RequestException("type: not one that this service creates."),
        };
        return new V1.CreateResponse();
    }

    public override async Task<V1.ListObjectsResponse> List(
        V1.ListObjectsRequest request, ServerCallContext context)
    {
        var runtime = await objects.RuntimeAsync(context.CancellationToken);
        var all = await runtime.ListObjectsAsync(context.CancellationToken);
        return new V1.ListObjectsResponse
        {
            Objects =
            {
                all.Select(static entry => new V1.ObjectEntry
                {
                    Name = entry.Name,
                    TypeName = entry.TypeName,
                    Group = entry.Group ?? "",
                }),
            },
        };
    }

    private async Task<TangoObject> CreateAsync<T>(string name, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T> =>
        await objects.OpenAsync<T>(name, OpenMode.Create, cancellationToken);
}
