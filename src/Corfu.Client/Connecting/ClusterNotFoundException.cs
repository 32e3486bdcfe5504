using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Nothing at the endpoints of a connection string led to a cluster's projection; the message says what was found at each.</summary>
public sealed class ClusterNotFoundException(string message, Exception? inner = null) : CorfuException(message, inner);
