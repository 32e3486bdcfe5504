using Corfu.Protocol;

namespace Corfu.Client.Layout;

/// <summary>
/// No majority of acceptors answered, or others kept outbidding, for all attempts. The outcome of a proposal is unknown then: it may be,
/// or become, decided.
/// </summary>
public sealed class LayoutUnavailableException(string message) : CorfuException(message);
