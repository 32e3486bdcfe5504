using Tango.Runtime;

namespace Tango.Transactions;

/// <summary>A buffered mutator call of a transaction.</summary>
internal sealed record TxWrite(ObjectHost Host, MutatorInfo Mutator, ObjectKey Key, ReadOnlyMemory<byte> Arguments);
