using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>What one process serves, from its handshake.</summary>
public sealed record NodeDescription(ClusterId Cluster, ImmutableArray<RoleIdentity> Roles);

/// <summary>One role of a process and the identity behind it.</summary>
public readonly record struct RoleIdentity(NodeRole Role, NodeId Id);
