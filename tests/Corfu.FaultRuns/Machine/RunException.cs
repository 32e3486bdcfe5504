namespace Corfu.FaultRuns.Machine;

/// <summary>The run itself cannot go on: nothing about the cluster.</summary>
internal sealed class RunException(string message) : Exception(message);
