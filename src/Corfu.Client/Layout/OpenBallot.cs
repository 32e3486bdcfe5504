using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client.Layout;

/// <summary>A ballot whose promises are being collected: they know of no value, so this may begin before there is one to propose.</summary>
public sealed record OpenBallot(Epoch Slot, ImmutableArray<NodeAddress> Acceptors, Ballot Ballot, Task<LayoutResponse?[]> Promises);
