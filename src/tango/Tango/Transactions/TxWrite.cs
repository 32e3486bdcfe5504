using Tango.Runtime;

namespace Tango.Transactions;

/// <summary>A buffered mutator call of a transaction.</summary>
/// <param name="Index">Among the transaction's.</param>
internal sealed record TxWrite(
    ObjectHost Host, MutatorInfo Mutator, ObjectKey Key, ReadOnlyMemory<byte> Arguments, int Index);
