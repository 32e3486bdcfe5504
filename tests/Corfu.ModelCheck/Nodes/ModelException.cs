namespace Corfu.ModelCheck.Nodes;

/// <summary>A node did what it never may: the search reports it as a violation, with the way there.</summary>
public sealed class ModelException(string message) : Exception(message);
