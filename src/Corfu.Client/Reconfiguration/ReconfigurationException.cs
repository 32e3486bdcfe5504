using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>A reconfiguration is refused, or could not be finished. Whatever was sealed is taken up again by the next one.</summary>
public sealed class ReconfigurationException(string message) : CorfuException(message);
