using Microsoft.AspNetCore.Builder;

namespace Corfu.Grpc;

/// <summary>The services that <c>app.MapCorfu()</c> has mapped. A convention, such as
/// <c>RequireAuthorization()</c>, is added to all of them, or to one by its property.</summary>
public sealed class CorfuGrpcEndpoints : IEndpointConventionBuilder
{
    internal CorfuGrpcEndpoints()
    {
    }

    /// <summary><c>corfu.log.v1</c>.</summary>
    public required IEndpointConventionBuilder Log { get; init; }

    /// <summary>The services of Tango's objects.</summary>
    public required IEndpointConventionBuilder Objects { get; init; }

    /// <summary><c>corfu.admin.v1</c>.</summary>
    public required IEndpointConventionBuilder Admin { get; init; }

    /// <summary><c>grpc.health.v1</c>, which load balancers ask.</summary>
    public required IEndpointConventionBuilder Health { get; init; }

    /// <summary>Reflection; nothing where the options have it off.</summary>
    public required IEndpointConventionBuilder Reflection { get; init; }

    public void Add(Action<EndpointBuilder> convention) =>
        new EndpointGroup([Log, Objects, Admin, Health, Reflection]).Add(convention);

    public void Finally(Action<EndpointBuilder> finallyConvention) =>
        new EndpointGroup([Log, Objects, Admin, Health, Reflection]).Finally(finallyConvention);
}

/// <summary>Several endpoints that get the same conventions.</summary>
internal sealed class EndpointGroup(ImmutableArray<IEndpointConventionBuilder> endpoints) : IEndpointConventionBuilder
{
    public void Add(Action<EndpointBuilder> convention)
    {
        foreach (var endpoint in endpoints) endpoint.Add(convention);
    }

    public void Finally(Action<EndpointBuilder> finallyConvention)
    {
        foreach (var endpoint in endpoints) endpoint.Finally(finallyConvention);
    }
}
