namespace Tango.Records;

/// <summary>A mutator call that a transaction has buffered.</summary>
/// <param name="Object">The object that is called.</param>
/// <param name="Index">Among the transaction's.</param>
internal sealed record TxWrite(
    DirectoryEntry Object, MutatorInfo Mutator, ObjectKey Key, ReadOnlyMemory<byte> Arguments, int Index);
