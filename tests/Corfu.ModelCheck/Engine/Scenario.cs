using System.Collections.Immutable;
using Corfu.ModelCheck.Checks;
using Corfu.ModelCheck.Nodes;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Engine;

/// <summary>A small cluster with something going on: where every search begins.</summary>
/// <param name="LateRequests">How many requests that no process waits for may be under way at once; what is beyond is
/// lost.</param>
public sealed record Scenario(
    string Name,
    string About,
    ImmutableArray<(NodeId Id, NodeState State)> Nodes,
    ImmutableArray<Process> Processes,
    History History,
    int LateRequests = 2,
    bool Streams = false);
