using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client.Layout;

/// <summary>A register's value, durable at a majority of those that decided it, who need not know that yet (<see cref="LayoutClient.PublishAsync"/>).</summary>
public sealed record LayoutDecision(Projection Value, ImmutableArray<NodeAddress> Deciders);
