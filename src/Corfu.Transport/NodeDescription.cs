using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>What one process serves, from its handshake.</summary>
public sealed record NodeDescription(ClusterId Cluster, ImmutableArray<RoleIdentity> Roles);
