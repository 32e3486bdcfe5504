using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>A position of one's own with the headers to write there. A grant, not a write.</summary>
internal readonly record struct TokenGrant(EpochView View, LogPosition Position, ImmutableArray<StreamHeader> Headers);
