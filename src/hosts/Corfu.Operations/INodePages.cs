using Corfu.Hosting;
using Microsoft.AspNetCore.Routing;

namespace Corfu.Operations;

/// <summary>Further pages of a node's HTTP endpoint. Only peers with a certificate of the cluster reach them, or
/// callers on the node's own host.</summary>
public interface INodePages
{
    /// <summary>The first part of the address, as <c>/console</c>.</summary>
    string Path { get; }

    /// <summary>Maps the pages at and below <see cref="Path"/>.</summary>
    /// <returns>Disposed when the endpoint ends; null: nothing to end.</returns>
    IAsyncDisposable? Map(IEndpointRouteBuilder endpoints, NodeSurroundings node);
}
